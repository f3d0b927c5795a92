import type { Address } from 'viem'
import type { BlockMark } from '../../chain/multicall.ts'
import type { FixedTermFigures, FixedTermState } from '../../fixed-term/market.ts'
import type { Plan, ReadViews, Token } from '../family.ts'

export const fixedTermActions = ['swap-in', 'swap-out'] as const
export type FixedTermAction = (typeof fixedTermActions)[number]

/** What transactions need to know of a market; one of the index is one. Addresses are lower case. */
export interface FixedTermRef {
  readonly protocol: string
  readonly chainId: number
  readonly address: string
  readonly pt: { readonly address: string; readonly symbol: string; readonly decimals: number }
  readonly sy: string
  readonly yt: string
  readonly yieldToken: string
  readonly expiry: number
  readonly info: { readonly address: string; readonly symbol: string; readonly decimals: number }
}

/** A token that is spent; the zero address is the chain's own coin. */
export interface Spent {
  token: Token
  /** What of it the wallet holds, and what it lets the market's router take. */
  balance: bigint
  allowance: bigint
}

export interface FixedTermRequest {
  action: FixedTermAction
  /** Base units of what is spent. */
  amount: bigint
  /** Part of the quote that may be lost, scaled by 1e9. */
  slippage: bigint
  /** What the same plan gave when it was run without a minimum; absent for that run. */
  quote: bigint | undefined
  resetAllowance: boolean
}

/** How one user stands with one market at one block. */
export interface FixedTermStanding {
  block: BlockMark
  hasEnded: boolean
  /** The wallet's own balance of the market's asset. */
  assets: bigint
  /** And of the PT. */
  pt: bigint
  /** Tokens that are taken for PT without any aggregator, and the one that is given for them. */
  tokensIn: readonly Address[]
  tokenOut: Address | undefined
  /** Pure. The plan that spends a token; what is received is the only one of `gains`. */
  build(request: FixedTermRequest, spent: Spent, received: Token): Plan
}

/** One kind of fixed-term market: what a state of it is worth, and how one buys and sells there. */
export interface FixedTermFamily {
  readonly protocol: string
  /** Whom a wallet approves. */
  readonly router: Address
  /** Pure; `at` in unix seconds. Amounts in base units of the PT. */
  figures(state: FixedTermState, expiry: number, at: number): FixedTermFigures
  look(market: FixedTermRef, user: Address, read: ReadViews): Promise<FixedTermStanding>
}
