import type { Facts, RewardFact } from '../../db/registry/kinds.ts'

export const WINDOWS = ['1hour', '1day', '7day', '30day'] as const
export type Window = (typeof WINDOWS)[number]

/** setting → value as vault_setting holds it. */
export type Settings = Readonly<Record<string, string | null>>

/** What a vault has outside of itself, as others' books say. */
export interface Elsewhere {
  /** Shares of other vaults, base units. */
  readonly shares: readonly (readonly [vault: string, shares: bigint])[]
  /** Of its own asset in lending markets, base units; without an id: in pools that the registry names. */
  readonly lent: readonly (readonly [market: string, amount: bigint])[]
}

/** `isAnybodys`: anybody may have registered it, with any token. */
export type RewardStream = RewardFact & { readonly isAnybodys?: boolean }

/** What ClickHouse says of a vault. Replaced as a whole when any of it moves. */
export interface VaultState {
  readonly chainId: number
  readonly address: string
  readonly protocol: string
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  readonly asset: string
  readonly deployedAt: number | undefined
  /** Whether shares come, and assets go, in another transaction than is sent for it; absent where that was not asked. */
  readonly async?: { readonly deposits: boolean; readonly redemptions: boolean }
  /** By a factory that the registry names. */
  readonly isMade: boolean
  /** When it was first seen, unix seconds. */
  readonly seenAt: number
  readonly sample?: {
    readonly totalAssets: bigint | undefined
    readonly totalSupply: bigint | undefined
    /** Undefined also where there is no share to speak of. */
    readonly sharePrice: number | undefined
    /** What the contract says of one whole share, shares or none: asset base units. */
    readonly sharePriceRaw: bigint | undefined
    /** What it says of 10^fineDigits whole shares, where that is the same price with more digits. */
    readonly finePrice?: bigint | undefined
    readonly fineDigits?: number
    readonly maxDeposit: bigint | undefined
    /** Of the vault's asset, in the vault itself. */
    readonly idleAssets: bigint | undefined
    readonly borrowedAssets: bigint | undefined
    readonly blockNumber: number
    readonly at: number
    /** Of its event in the chain's stream. */
    readonly position: number
  }
  /** Whether the shares of all holders were the supply when both were last known of the same moment; undefined: never. */
  readonly isLedgerWhole?: boolean
  /** Read of found vaults alone. */
  readonly elsewhere?: Elsewhere
  /** Total assets over time since the first sample: asset base units × seconds. */
  readonly assetSeconds?: number
  /** Share prices of the seven days up to the last sample. */
  readonly range?: { readonly high: number; readonly low: number }
  readonly settings?: Settings
  /** Rewards that the vault pays out itself, as its chain tells. */
  readonly streams?: readonly RewardStream[]
  readonly apy?: { readonly hour: number; readonly values: Readonly<Record<Window, number | undefined>> }
  readonly holders?: {
    readonly count: number
    readonly total: string
    readonly top: readonly (readonly [address: string, balance: string])[]
    /** Position of the last movement of shares. */
    readonly movedAt: number
  }
}

/**
 * How a vault came to be known: the registry lists it, a factory that the registry names made it, or it was found by its
 * shape, which anybody can give a contract.
 */
export type Standing = 'listed' | 'made' | 'found'

/** What may have a standing; absent: it is of contracts that the operator named. */
export interface Vouchable {
  readonly standing?: Standing
}

export const isVouchedFor = ({ standing }: Vouchable) => standing !== 'found'

export function standingOf({ isMade }: Pick<VaultState, 'isMade'>, { listed }: Facts<'vault'>): Standing {
  return listed ? 'listed' : isMade ? 'made' : 'found'
}
