import { PROTOCOLS, type ProductSlug } from '../../db/protocols.ts'
import type { AssetInfo } from '../catalogue/assets.ts'
import type { Standing } from '../catalogue/vault-state.ts'

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

/** A lending market at one moment; its protocol's own has what is reckoned with besides. */
export interface LendingMarket {
  readonly chainId: number
  readonly id: string
  readonly name: string
  readonly protocol: ProductSlug
  /** Pool or core contract. */
  readonly root: string
  readonly assets: readonly LendingAsset[]
  /** Who vouches for it; absent: it is of contracts that the operator named. */
  readonly standing?: Standing
}

/** As the wire has it. */
export function protocolOf({ protocol }: Pick<LendingMarket, 'protocol'>) {
  const { name, product, version } = PROTOCOLS[protocol]
  return { name, protocolId: protocol, product, version }
}

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
