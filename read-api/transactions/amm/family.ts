import type { Address } from 'viem'
import type { AmmFigures, AmmState, Pair, Side } from '../../amm/vault.ts'
import type { BlockMark } from '../../chain/multicall.ts'
import type { Plan, ReadViews, Token } from '../family.ts'

/** What transactions need to know of a vault; one of the index is one. Addresses are lower case. */
export interface AmmRef {
  readonly protocol: string
  readonly chainId: number
  readonly address: string
  readonly symbol: string
  readonly decimals: number
  readonly tokens: readonly [PooledToken, PooledToken]
  readonly takes: readonly Side[]
  readonly guard: { readonly address: string; readonly deployer: string } | undefined
}

type PooledToken = Pick<Token, 'symbol' | 'decimals'> & { readonly address: string }

export interface AmmDeposit {
  /** Base units of token0 and token1. */
  amounts: Pair
  /** Shares that the same plan gave when it was run without a minimum; absent for that run. */
  quote: bigint | undefined
  resetAllowance: boolean
}

export interface AmmWithdrawal {
  /** Base units. */
  shares: bigint
  /** Tokens that the same plan gave, likewise. */
  quotes: readonly bigint[] | undefined
  resetAllowance: boolean
}

/** How one user stands with one vault at one block. */
export interface AmmStanding {
  block: BlockMark
  /** What the wallet has of the two tokens, and of shares. */
  tokens: Pair
  shares: bigint
  /** Whether a deposit of these amounts goes by a guard, which holds it to a minimum. */
  isGuarded(amounts: Pair): boolean
  /** Pure. */
  deposit(request: AmmDeposit): Plan
  /** Pure. Throws RefusedError where it would give nothing. */
  withdraw(request: AmmWithdrawal): Plan
}

/** One kind of vault of liquidity: what a state of it is worth, and how one deposits and withdraws. */
export interface AmmFamily {
  readonly protocol: string
  /** Pure. Valued in token0 (0) or token1 (1). */
  figures(state: AmmState, side: Side): AmmFigures
  look(vault: AmmRef, user: Address, read: ReadViews): Promise<AmmStanding>
}
