import type { Address } from 'viem'
import type { AssetInfo } from '../../catalogue/assets.ts'
import type { BlockMark } from '../../chain/multicall.ts'
import { RefusedError } from '../../http/errors.ts'
import type { Plan, ReadViews, Token } from '../family.ts'

export const borrowActions = ['supply', 'withdraw', 'borrow', 'repay'] as const
export type BorrowAction = (typeof borrowActions)[number]

/** What transactions need to know of a market; a lending market of the index is one. Addresses are lower case. */
export interface MarketRef {
  readonly protocol: string
  readonly chainId: number
  readonly id: string
  /** Pool or core contract. */
  readonly root: string
  readonly assets: readonly MarketAssetRef[]
}

export interface MarketAssetRef {
  /** The marketAssetId of the wire. */
  readonly id: string
  readonly side: 'loan' | 'collateral'
  readonly info: Pick<AssetInfo, 'address' | 'symbol' | 'decimals'>
}

export interface BorrowRequest {
  action: BorrowAction
  /** Base units; `all`: the whole wallet, supply or debt, and what can be borrowed at most. */
  amount: bigint | 'all' | undefined
  resetAllowance?: boolean
}

export interface BorrowBalances {
  supplied: bigint
  borrowed: bigint
  wallet: bigint
  allowance: bigint
}

/** What was read of one user, one asset and its market at one block. Base units of the asset, interest included. */
export interface BorrowPosition {
  block: BlockMark
  user: Address
  asset: MarketAssetRef
  token: Token
  /** What takes supplies and repayments, and is approved for them. */
  contract: Address
  balances: BorrowBalances
  /** The debt after so many seconds. */
  owedIn(seconds: number): bigint
}

/** How one user stands with one asset of a market at one block. Base units of the asset, interest included. */
export interface BorrowStanding {
  block: BlockMark
  balances: BorrowBalances
  limits: { maxWithdraw: bigint; maxBorrow: bigint; maxRepay: bigint }
  /** Names of the actions of each step, in their order; none where the asset has no such step. */
  steps: Record<BorrowAction, readonly string[]>
  /** Pure. Throws RefusedError with the reason, and the limit, where the action cannot be done. */
  build(request: BorrowRequest): Plan
}

/** One asset of a market on chain now: base units; rates per year, compounded, as fractions; undefined: not known. */
export interface AssetFigures {
  block: BlockMark
  supplyRate: number | undefined
  borrowRate: number | undefined
  supplied: bigint
  borrowed: bigint
  /** What one unit supplied or owed at the beginning has become. */
  supplyIndex: number
  borrowIndex: number
}

/** A total that a contract was asked for: without an answer it is not known, which is not nothing. */
export function answeredBy(contract: string, total: bigint | undefined): bigint {
  if (total === undefined)
    throw new RefusedError(`The contract ${contract} does not answer what it is asked.`)
  return total
}

/** One kind of lending market: how a user stands with it, what is done with it, what it says of itself now. */
export interface BorrowFamily {
  readonly protocol: string
  look(market: MarketRef, asset: MarketAssetRef, user: Address, read: ReadViews): Promise<BorrowStanding>
  /** Undefined where the contract keeps no figures of this asset. */
  figures(market: MarketRef, asset: MarketAssetRef, read: ReadViews): Promise<AssetFigures | undefined>
}
