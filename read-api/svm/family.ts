import type { Instruction } from '../../abi/svm/instruction.ts'
import type { LookupTable } from '../../abi/svm/lookup-table.ts'
import type { Key } from '../../abi/svm/programs.ts'
import type { SolanaNode, SvmAccount } from './node.ts'
import type { SvmVault } from './vault.ts'

export const svmActions = ['deposit', 'redeem'] as const
export type SvmAction = (typeof svmActions)[number]

/** How vaults of one protocol on Solana are used. */
export interface SvmFamily {
  /**
   * What has to lie in a vault that nobody listed for it to be shown unasked: asset base units, or, where it may be of any asset and lend
   * to anybody, USD that can be paid out at once, which counts where the asset has a price.
   */
  floor: { assets: bigint } | { usd: number }
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
  /** Asset base units that an action is of at least; undefined where no more than a unit is asked for. */
  least?: Record<SvmAction, bigint>
  /** What else to know before anything is done; whole sentences. */
  notes?: readonly string[]
  /** By which a transaction may name accounts where it is too long otherwise. */
  tables?: readonly LookupTable[]
  /** Accounts of the wallet that the act changes, itself first. */
  own: readonly Key[]
  /** What makes accounts, and what frees shares, comes before the first instruction of the vault's program: it can be done beforehand. */
  deposit(amount: bigint): readonly Instruction[]
  redeem(shares: bigint): readonly Instruction[]
  /** The fewest shares that pay so many assets; undefined where none would. */
  sharesFor(assets: bigint): bigint | undefined
  /** What the accounts of `own` have more or less of after the act: assets without rents and fees. */
  moved(before: OwnAccounts, after: OwnAccounts): { assets: bigint; shares: bigint }
  /** An error number of a program that the family calls, in words; undefined: unknown. */
  words(code: number, program: Key): ProgramError | undefined
}

/** In the order of `own`; undefined: there is none. */
export type OwnAccounts = readonly (SvmAccount | undefined)[]

/**
 * `name`: what the program's log calls it; where the log has another name for the number, it is an error of a library of the
 * program, and `text` is not meant. `retryAfter`: seconds after which it may work.
 */
export interface ProgramError {
  text: string
  name?: string
  retryAfter?: number
}
