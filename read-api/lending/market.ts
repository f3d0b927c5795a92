import type { AaveIndexes } from '../../abi/aave-v3/math.ts'
import type { CometHolding, CometTotals } from '../../abi/compound-v3/math.ts'
import type { EvkVault } from '../../abi/euler/math.ts'
import type { MorphoMarket } from '../../abi/morpho-blue/math.ts'
import type { AssetInfo } from '../catalogue/assets.ts'
import type { Standing } from '../catalogue/vault.ts'

/** One asset of a lending market at one moment. Amounts are base units with interest up to that moment. */
export interface LendingAsset {
  /** Stable and URL-safe; unique within the market. */
  readonly id: string
  readonly info: AssetInfo
  readonly side: 'loan' | 'collateral'
  /** Under which market its events are kept: the asset where the market has several of its side. */
  readonly eventMarket: string
  readonly isCollateralEnabled: boolean
  readonly isBorrowEnabled: boolean
  /** Per year, compounded, as fractions; undefined where no rate was recorded yet. */
  readonly supplyRate: number | undefined
  readonly borrowRate: number | undefined
  readonly supplied: bigint
  readonly borrowed: bigint
  readonly liquidity: bigint
  /** Fraction of the interest that lenders do not get. */
  readonly feeRate: number
  /** Base units; undefined: none. */
  readonly borrowCap: bigint | undefined
  readonly supplyCap: bigint | undefined
  readonly risk: RiskParameters
  readonly pairs: readonly ({ collateralMarketAssetId: string } & RiskParameters)[] | undefined
}

/** Fractions. */
export interface RiskParameters {
  maxLtv: number
  liquidationThreshold: number
  liquidationPenalty: number
}

export const LENDING_PROTOCOLS = ['morpho-blue', 'aave-v3', 'compound-v3', 'euler-v2'] as const
export type LendingProtocol = (typeof LENDING_PROTOCOLS)[number]

interface MarketBase {
  readonly chainId: number
  readonly id: string
  readonly name: string
  readonly protocol: LendingProtocol
  /** Pool or core contract. */
  readonly root: string
  readonly assets: readonly LendingAsset[]
  /** Who vouches for it; absent: it is of contracts that the operator named. */
  readonly standing?: Standing
}

export interface MorphoLendingMarket extends MarketBase {
  readonly protocol: 'morpho-blue'
  /** With interest up to the moment. */
  readonly state: MorphoMarket
  /** As its oracle last answered; undefined where it has not. */
  readonly oraclePrice: bigint | undefined
  /** What the id is the hash of; the zero address: none. */
  readonly params: MorphoParams
}

export interface MorphoParams {
  readonly loanToken: string
  readonly collateralToken: string
  readonly oracle: string
  readonly irm: string
  readonly lltv: bigint
}

export interface AaveReserve {
  readonly asset: string
  readonly aToken: string
  readonly debtToken: string
  readonly decimals: number
  readonly indexes: AaveIndexes
  /** Rounds in favour of the pool, as v3.5 and later do. */
  readonly isDirected: boolean
  /** Its settings hold outside of eModes alone, as those of v3.6 and later do. */
  readonly isDecoupled: boolean
  readonly income: bigint
  readonly debt: bigint
  readonly ltvBps: bigint
  readonly liquidationThresholdBps: bigint
  readonly eModeCategory: number
  /** In the oracle's base currency; undefined where the market's oracle has no recorded answer. */
  readonly oraclePrice: bigint | undefined
  readonly setting: (key: string, market?: string) => string | undefined
}

export interface AaveLendingMarket extends MarketBase {
  readonly protocol: 'aave-v3'
  readonly reserves: readonly AaveReserve[]
}

export interface CometCollateral extends Omit<CometHolding, 'balance' | 'price'> {
  readonly asset: string
  /** USD per whole unit scaled by 1e8; undefined where none was recorded, or none above zero. */
  readonly oraclePrice: bigint | undefined
}

export interface CometLendingMarket extends MarketBase {
  readonly protocol: 'compound-v3'
  /** With interest up to the moment. */
  readonly totals: CometTotals
  readonly base: { asset: string; scale: bigint; oraclePrice: bigint | undefined }
  readonly collaterals: readonly CometCollateral[]
}

/** A vault with interest up to the moment. */
export interface EvkSide {
  readonly vault: string
  readonly state: EvkVault
}

/** What a vault takes as collateral. */
export interface EvkSecurity {
  readonly vault: string
  /** Undefined where the vault is not indexed. */
  readonly state: EvkVault | undefined
  readonly liquidationBps: number
  /** Of a base unit of its asset; undefined where none was recorded. */
  readonly oraclePrice: bigint | undefined
}

export interface EvkLendingMarket extends MarketBase {
  readonly protocol: 'euler-v2'
  readonly lender: EvkSide & {
    /** Whom it asks for prices; undefined where that was not read yet. */
    readonly oracle: string | undefined
    readonly oraclePrice: bigint | undefined
    /** All of them, whichever pair this market is. */
    readonly securities: readonly EvkSecurity[]
  }
  readonly collateral: EvkSide
  /** By marketAssetId. */
  readonly vaults: Readonly<Record<string, string>>
}

export type LendingMarket = MorphoLendingMarket | AaveLendingMarket | CometLendingMarket | EvkLendingMarket

/** @example '1:0xb323…:0x70aa…:0xa0b8…-loan' */
export const positionId = (market: LendingMarket, account: string, asset: LendingAsset) =>
  `${market.chainId}:${market.id}:${account}:${asset.id}`

export const SECONDS_PER_YEAR = 31_536_000

/** A ratio of two amounts, for rates and utilization only; zero of nothing is zero. */
export function ratio(part: bigint, whole: bigint): number {
  if (whole === 0n) return 0
  return Number((part * 10n ** 18n) / whole) / 1e18
}

/** A ratio of two amounts, however small it is; undefined of nothing. */
export const quotient = (part: bigint, whole: bigint) =>
  whole === 0n ? undefined : Number(part) / Number(whole)

/** A rate per second, scaled by 1e18, compounded over a year. */
export const yearlyOfWad = (perSecond: bigint) => Math.expm1((Number(perSecond) / 1e18) * SECONDS_PER_YEAR)

/** A yearly rate in ray that is charged by the second, compounded over a year. */
export const yearlyOfRay = (perYear: bigint) =>
  Math.expm1(SECONDS_PER_YEAR * Math.log1p(Number(perYear) / 1e27 / SECONDS_PER_YEAR))

export const fractionOfWad = (wad: bigint) => Number(wad) / 1e18
