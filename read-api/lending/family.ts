import type { Reading } from '../catalogue/reading.ts'
import type { Vault } from '../catalogue/vault.ts'
import type { Stake } from '../portfolio/stake.ts'
import type { Allocation } from '../vaults/allocation.ts'
import type { LendingAsset, LendingMarket } from './market.ts'
import type { LendingEvent } from './queries.ts'
import type { StakesAsked } from './stakes.ts'

/** What a user has of one asset of a market, base units with interest up to the moment. */
export interface AssetPosition {
  asset: LendingAsset
  /** One for each underlying position, whatever markets show it. */
  positionId: string
  collateralEnabled: boolean
  supplied: bigint
  borrowed: bigint
}

export interface LendingPosition {
  market: LendingMarket
  /** The wallet that was asked for. */
  user: string
  /** Whose position it is: the wallet itself, or an account that it has in the protocol. */
  account: string
  assets: AssetPosition[]
  /** Debt over collateral at the protocol's oracle's price; 0 without debt, undefined where that price is not recorded. */
  ltv: number | undefined
  /** Undefined without debt and where the price is not recorded. */
  healthFactor: number | undefined
}

/** An asset of a market as it stood at a moment, interest included. */
export interface MarketPoint {
  /** Unix seconds. */
  at: number
  /** Of the last update that is in it. */
  block: number
  supplyRate: number | undefined
  borrowRate: number | undefined
  supplied: bigint
  borrowed: bigint
  supplyIndex: number
  borrowIndex: number
}

/** Buckets of `seconds` that begin in [from, to), less the first `offset`, at most `limit`. */
export interface Window {
  seconds: number
  from: number
  to: number
  limit: number
  offset: number
}

/** What the registry's vaults say of markets that anybody can open. */
export interface Vouchers {
  /** Addresses of listed vaults. */
  vaults: ReadonlySet<string>
  /** Ids of markets that the curator of a listed vault has given a cap. */
  capped: ReadonlySet<string>
}

/** What a kind of lending market says for statements. */
export interface LendingStakes<M extends LendingMarket = LendingMarket> {
  /** SQL of the chains (`chain_id`) on which {accounts} ever had anything in it: rows of whatever moment. */
  held: string
  /** Further accounts that wallets have in the protocol, on a chain; what these hold of vaults is the wallets', too. */
  accounts?(wallets: readonly string[], chain: number, reading: Reading): Promise<string[]>
  /**
   * What accounts had in these markets of one chain, or in what was one, from the beginning up to a moment; shares of vaults
   * that the statement shows are not among it. Of a chain without markets of it too.
   */
  read(markets: readonly M[], asked: StakesAsked, reading: Reading): Promise<Stake[]>
}

/** One kind of lending market as the index has it: what the read models say of its markets, and of who is in them. */
export interface LendingFamily<M extends LendingMarket = LendingMarket> {
  /** Its markets of a chain as of the catalogue's moment, interest included; those with an asset not yet described are left out. */
  markets(reading: Reading, chain: number): Promise<M[]>
  /** What an account has in these markets of one chain, in their order; also where it has nothing. */
  positions(markets: readonly M[], account: string, reading: Reading): Promise<LendingPosition[]>
  /** What further accounts that a wallet has in the protocol have in these markets; those that have nothing are left out. */
  positionsOfSubAccounts?(markets: readonly M[], wallet: string, reading: Reading): Promise<LendingPosition[]>
  /** Of positions of its markets those that a list shows, where one debt stands in several of them. */
  distinct?(positions: readonly LendingPosition[]): LendingPosition[]
  /** A point for each bucket that began since the market did: as it stood then, with interest up to then. */
  history(market: M, asset: LendingAsset, window: Window, reading: Reading): Promise<MarketPoint[]>
  /** For statements. */
  stakes: LendingStakes<M>
  /** What a wallet did with an asset, oldest first; absent: by the events that markets have in common. */
  events?(market: M, asset: LendingAsset, wallet: string, reading: Reading): Promise<LendingEvent[]>
  /** Whether its own curators vouch for a market, and whom it asks for prices; absent: its contracts are named by the operator. */
  vouching?(market: M, by: Vouchers): { isListed: boolean; oracle: string | undefined }
  /** What vaults of a chain have supplied of their assets to its markets, interest included. */
  supplies?(
    markets: readonly M[],
    vaults: readonly string[],
    reading: Reading,
    chain: number,
  ): Promise<(vault: Vault) => Allocation[]>
  /**
   * SQL of what {accounts} have supplied to its markets, as of the last time each reckoned its interest: rows of account,
   * asset, market (its id where anybody may open one, else empty) and amount in base units.
   */
  lent?: string
}

/** A family is only ever given markets of its own protocol. */
export function defineLendingFamily<M extends LendingMarket>(family: LendingFamily<M>): LendingFamily {
  return family as unknown as LendingFamily
}
