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

export interface VaultState
  extends Omit<EventData<'SvmVaultSampled'>, 'reason' | 'decimals' | 'assetDecimals' | 'epoch'> {
  /** Where the shares of who deposits are staked. */
  farm?: Omit<EventData<'SvmFarmNamed'>, 'vault'>
}

/** What an owner has in a farm, as instructions name it. */
export interface Stake {
  mint: Key
  farm: Key
  stakeAccount: Key
  owner: Key
}

/** What an instruction did in a farm. */
export interface FarmActs {
  /** Of the shares; undefined where nothing that it moved tells. */
  mint: Key | undefined
  farm: Key
  /** The shares that it moved in (below zero: out); 0: what they have now is to be read. */
  stakes: { stakeAccount: Key; owner: Key; change: bigint }[]
  /** What everybody has in the farm is another amount from here on. */
  isRevalued?: true
}

/** Programs in which shares are staked: whoever's they are, they lie in token accounts of the farms. */
export interface SvmFarms {
  programs: readonly Key[]
  /** First eight bytes of those of their instructions that move no token, as hex. */
  silent: readonly string[]
  /** What a carried-out instruction did to stakes; undefined: nothing. Pure. */
  decode(instruction: SvmInstruction, transaction: SvmTransaction): FarmActs | undefined
  /** Where all stakes of a farm are. */
  stakesOf(farm: Key): AccountsOf
  /**
   * Shares of the owner by the account of the stake and that of the farm; of one that is not there any more, or another's by now, none. Pure.
   * @throws TypeError where an account is not what it should be
   */
  read(stake: Stake, account: SvmAccount | undefined, farm: SvmAccount | undefined): bigint
}

/** Accounts of a program that belong to something and to owners. */
export interface AccountsOf {
  program: Key
  /** Bytes of each; absent: any number. */
  size?: number
  /** Where in its bytes each names what it belongs to, and what that is. */
  of: { at: number; key: Key }
  /** Where in its bytes each names its owner. */
  ownerAt: number
}

/** A protocol on a chain of Solana's kind: one code, whatever the number of its deployments. */
export interface SvmProgram {
  /** Its slug. */
  name: string
  programs: readonly Key[]
  farms?: SvmFarms
  /**
   * What a carried-out instruction means; undefined where it is none of a vault. Pure.
   * @throws RangeError, TypeError where it does not read as published
   */
  decode(instruction: SvmInstruction, transaction: SvmTransaction): Told | undefined
  /** A vault's own account says which others are wanted: it is read first, and with them once more. */
  readsFirst?: true
  /**
   * Accounts besides those of vault and share mint that a sample needs.
   * @param account the vault's own, where `readsFirst`
   */
  wants(vault: Key, accounts: VaultAccounts, account?: SvmAccount): readonly Key[]
  /**
   * The state of a vault by its account, the supply of its shares, and the accounts wanted, all of one slot. Pure.
   * @throws RangeError, TypeError where an account is not what it should be
   */
  read(asked: {
    vault: Key
    accounts: VaultAccounts
    account: SvmAccount
    supply: bigint
    wanted: readonly (SvmAccount | undefined)[]
    slot: number
  }): VaultState
}
