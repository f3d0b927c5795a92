import type { AssetInfo } from '../catalogue/assets.ts'
import type { Standing } from '../catalogue/vault-state.ts'
import { usdOf } from '../http/amounts.ts'

/** A market and its tokens as they were last read. Amounts are base units, rates scaled by 1e18. */
export interface FixedTermState {
  totalPt: bigint
  totalSy: bigint
  totalLp: bigint
  /** Continuous, per year. */
  lnRate: bigint
  ptSupply: bigint | undefined
  /** Assets for an SY; undefined: the SY did not say. */
  exchangeRate: bigint | undefined
  /** The highest that it was; undefined: nobody looked. */
  pyIndex: bigint | undefined
}

/** What follows from a state at a time; undefined: not known. */
export interface FixedTermFigures {
  /** Implied by the last trade; undefined while nothing was ever in the pool. */
  apy: number | undefined
  /** What lies in the pool, base units of the PT. */
  liquidity: bigint | undefined
  /** With the PT outside of it. */
  tvl: bigint | undefined
}

/** Addresses are lower case. */
export interface FixedTermMarket extends FixedTermFigures {
  readonly chainId: number
  readonly address: string
  /** Slug. */
  readonly protocol: string
  readonly pt: {
    readonly address: string
    readonly name: string
    readonly symbol: string
    readonly decimals: number
  }
  readonly sy: string
  readonly yt: string
  /** What the SY wraps; empty: it does not say. */
  readonly yieldToken: string
  /** Unix seconds. */
  readonly expiry: number
  readonly info: AssetInfo
  readonly standing: Standing
  /** Of the SY over the last 7 days, rewards aside. */
  readonly underlyingApy: number | undefined
  /** Whether it had ended at the moment that all this is of. */
  readonly hasEnded: boolean
  readonly isStateKnown: boolean
}

export const usdOfMarket = ({ info }: FixedTermMarket, amount: bigint | undefined): number | undefined =>
  amount === undefined ? undefined : usdOf(amount, info.decimals, info.price)

/** An amount that counts in one token's decimals in base units of another. */
export function rescaled(amount: bigint, from: number, to: number): bigint {
  return to >= from ? amount * 10n ** BigInt(to - from) : amount / 10n ** BigInt(from - to)
}

export const NOBODY_VOUCHES =
  'Nobody vouches for this market: anybody could have made it, and its figures are the word of the token that it wraps.'
