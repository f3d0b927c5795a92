import type { AssetInfo } from '../catalogue/assets.ts'
import { RefusedError } from '../http/errors.ts'

/** Kinds of what a wallet may have beside shares of vaults. */
export const STAKE_KINDS = ['supplied', 'collateral', 'debt', 'fixed-term', 'amm'] as const

/** Where a position stood after a block in which it moved. */
export interface StakeStep {
  /** Unix seconds. */
  at: number
  block: number
  /** What the position counts in: it changes by acts alone, and not by interest. */
  units: bigint
  /**
   * What the account itself paid in and out in the block, base units of the asset; of a debt what it borrowed, and what it
   * repaid. `worth`: whatever the units that came or went were worth. Absent: what moved did so by others' acts.
   */
  paid?: { in: bigint; out: bigint } | 'worth'
}

/** One asset in one place, whoever has it there. Addresses are lower case. */
export interface StakePlace {
  kind: (typeof STAKE_KINDS)[number]
  chainId: number
  protocol: { name: string; protocolId?: string; product?: string; version?: string }
  /** Market of a list; of a fixed term and of liquidity its vaultId. */
  id: string
  /** Contract that keeps it. */
  address: string
  name: string
  asset: AssetInfo
  isVouchedFor: boolean
}

/** What an account has there. */
export interface Stake extends StakePlace {
  /** The wallet, or an account that it has in the protocol. */
  account: string
  /** From the very first on, ascending. */
  steps: readonly StakeStep[]
  /** Reads what it takes to say at any of these moments (ascending) what is there since a step; of a debt what is owed. */
  values(times: readonly number[]): Promise<(step: number, at: number) => bigint | undefined>
}

/** Rows of one chain that a statement is made of at most: who has more is no wallet, and would be read for minutes. */
const MOST_ROWS = 50_000
/** One more is asked for than is taken. */
export const ROW_LIMIT = MOST_ROWS + 1

export function refuseTooMany(count: number): void {
  if (count > MOST_ROWS)
    throw new RefusedError(
      `These wallets moved more often than a statement is made of: ${MOST_ROWS} times on one network. Ask for fewer wallets, or narrow the vaults.`,
    )
}

/** Positions that are looked at together: a wallet of hundreds is not to take every connection from others. */
export const LANES = 4

/** Positions times days on one network. */
const MOST_DAYS = 200_000

export function refuseTooLong(days: number): void {
  if (days > MOST_DAYS)
    throw new RefusedError(
      `These are ${days} days of single positions, and a statement is made of ${MOST_DAYS} on one network at most. Ask for a shorter period, or narrow the vaults.`,
    )
}
