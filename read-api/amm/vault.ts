import type { AssetInfo } from '../catalogue/assets.ts'
import type { Standing } from '../catalogue/vault-state.ts'
import { usdOf } from '../http/amounts.ts'

/** Of token0 and token1, base units. */
export type Pair = readonly [bigint, bigint]
/** Which of the two tokens. */
export type Side = 0 | 1

export interface AmmPosition {
  liquidity: bigint
  /** Ticks. */
  lower: number
  upper: number
}

/** A vault and its pool as they were last read. */
export interface AmmState {
  /** What the vault has, at the price of that moment. */
  totals: Pair
  /** Shares, base units. */
  supply: bigint
  /** Of the price of that moment: token1 base units per token0 base unit, times 2^96. */
  root: bigint
  /** Over the time that the vault looks back; undefined: the pool's oracle does not reach so far. */
  meanTick: number | undefined
  /** Undefined: what is in them was not answered. */
  positions: readonly AmmPosition[] | undefined
  /** Unix seconds. */
  at: number
}

/** What a state is worth at one price. */
export interface AmmFigures {
  amounts: Pair
  /** Both, in base units of the token in which the vault is valued. */
  value: bigint
  supply: bigint
  /** At the price of the moment, which a single trade moves, and not at the mean over time. */
  isSpot: boolean
}

/** Through which one deposits and withdraws with a minimum, and for whom it knows the vault. */
export interface AmmGuard {
  readonly address: string
  readonly deployer: string
}

/** Addresses are lower case. */
export interface AmmVault {
  readonly chainId: number
  readonly address: string
  /** Slug. */
  readonly protocol: string
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  readonly tokens: readonly [AssetInfo, AssetInfo]
  /** Which can be deposited: one at least. */
  readonly takes: readonly Side[]
  /** In which it is valued: the one that it takes, token1 if both. */
  readonly side: Side
  readonly standing: Standing
  readonly guard: AmmGuard | undefined
  readonly state: AmmState | undefined
  readonly figures: AmmFigures | undefined
  /** Simple interest per year of the value of a share, over windows of days; undefined: neither window is filled. */
  readonly apr: { readonly week: number | undefined; readonly month: number | undefined }
}

/** A part of what a vault is worth in USD, by the prices of both tokens: what its own pool says of a price is not one. */
export function usdOfVault({ tokens, figures }: AmmVault, share = 1): number | undefined {
  if (!figures) return undefined
  const [first, second] = tokens.map((token, i) =>
    usdOf(figures.amounts[i] ?? 0n, token.decimals, token.price),
  )
  return first === undefined || second === undefined ? undefined : (first + second) * share
}

export const NOBODY_VOUCHES =
  'Nobody vouches for this vault: anybody could have had it made, of any two tokens, and what it is worth is the word of its own pool.'
