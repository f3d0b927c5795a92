import type { Instruction } from '../../abi/svm/instruction.ts'
import type { Key } from '../../abi/svm/programs.ts'
import type { SolanaNode } from './node.ts'
import type { SvmVault } from './vault.ts'

export const svmActions = ['deposit', 'redeem'] as const
export type SvmAction = (typeof svmActions)[number]

/** How vaults of one protocol on Solana are used. */
export interface SvmFamily {
  /** Asset base units from which on a vault that nobody listed is shown unasked. */
  floor: bigint
  /** How a vault and a wallet stand with each other, all of one slot. */
  look(node: SolanaNode, vault: SvmVault, user: Key): Promise<SvmLook>
}

export interface SvmLook {
  slot: bigint
  /** What the wallet can spend of the asset, and holds of shares. */
  assets: bigint
  shares: bigint
  /** Why an action cannot be done by anybody, or not by this wallet; a whole sentence. */
  barred: Partial<Record<SvmAction, string>>
  /** Asset base units that can be redeemed at once; undefined where nothing limits it. */
  redeemLimit: bigint | undefined
  /** Accounts of the wallet that the act changes, itself first. */
  own: readonly Key[]
  deposit(amount: bigint): readonly Instruction[]
  redeem(shares: bigint): readonly Instruction[]
  /** The fewest shares that pay so many assets; undefined where none would. */
  sharesFor(assets: bigint): bigint | undefined
  /** What the accounts of `own` have more or less of after the act: assets without rents and fees. */
  moved(before: readonly OwnAccount[], after: readonly OwnAccount[]): { assets: bigint; shares: bigint }
  /** An error number of the family's own program in words; undefined: unknown. */
  words(code: number): ProgramError | undefined
}

export interface OwnAccount {
  lamports: bigint
  /** Of a token account. */
  amount: bigint
}

/** `retryAfter`: seconds after which it may work. */
export interface ProgramError {
  text: string
  retryAfter?: number
}
