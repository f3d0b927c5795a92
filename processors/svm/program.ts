import type { Key } from '../../abi/svm/programs.ts'
import type { DomainEvent, EventData } from '../../db/events/vocabulary.ts'
import type { SvmInstruction, SvmTransaction } from './block.ts'

/** A vault as instructions name it. */
export type VaultAccounts = EventData<'SvmVaultIdentified'>

/** What an instruction says of a vault. */
export interface Told {
  vault: Key
  /** Undefined where it does not name them all. */
  accounts?: VaultAccounts | undefined
  /** Without place and signature, which are the instruction's. */
  events: Extract<DomainEvent, { type: 'SvmDeposited' | 'SvmWithdrawn' | 'SvmPriceUpdated' }>[]
}

/** An account as a node answers for it. */
export interface SvmAccount {
  owner: Key
  lamports: bigint
  data: Buffer
}

export type VaultState = Omit<EventData<'SvmVaultSampled'>, 'reason' | 'decimals' | 'assetDecimals' | 'epoch'>

/** A protocol on a chain of Solana's kind: one code, whatever the number of its deployments. */
export interface SvmProgram {
  /** Its slug. */
  name: string
  programs: readonly Key[]
  /**
   * What a carried-out instruction means; undefined where it is none of a vault. Pure.
   * @throws RangeError, TypeError where it does not read as published
   */
  decode(instruction: SvmInstruction, transaction: SvmTransaction): Told | undefined
  /** Accounts besides those of vault and share mint that a sample needs. */
  wants(vault: Key, accounts: VaultAccounts): readonly Key[]
  /**
   * The state of a vault by its account, the supply of its shares, and the accounts wanted, all of one slot. Pure.
   * @throws TypeError where an account is not what it should be
   */
  read(asked: {
    vault: Key
    accounts: VaultAccounts
    account: SvmAccount
    supply: bigint
    wanted: readonly (SvmAccount | undefined)[]
  }): VaultState
}
