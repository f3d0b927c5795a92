import { RAY, WAD } from '../../db/units.ts'

/**
 * Aave v3's arithmetic, bit for bit; amounts in base units, indexes and rates in ray, prices in the oracle's unit.
 * @see WadRayMath.sol, PercentageMath.sol, MathUtils.sol, ReserveLogic.sol, GenericLogic.sol of @aave/core-v3 1.19.3; what is told of
 * v3.5: TokenMath.sol and GenericLogic.sol of aave-dao/aave-v3-origin
 */

const SECONDS_PER_YEAR = 31_536_000n
const PERCENTAGE_FACTOR = 10_000n

export const rayMul = (a: bigint, b: bigint) => (a * b + RAY / 2n) / RAY
export const rayDiv = (a: bigint, b: bigint) => (a * RAY + b / 2n) / b
export const ceilDiv = (a: bigint, b: bigint) => (a + b - 1n) / b

/**
 * What a scaled balance is worth at an index. Since v3.5 (TokenMath.sol of aave-dao/aave-v3-origin) both sides round in favour of the pool:
 * what is supplied down, what is owed up; before, half up.
 */
export const suppliedAt = (scaled: bigint, index: bigint, isDirected: boolean) =>
  isDirected ? (scaled * index) / RAY : rayMul(scaled, index)
export const owedAt = (scaled: bigint, index: bigint, isDirected: boolean) =>
  isDirected ? ceilDiv(scaled * index, RAY) : rayMul(scaled, index)

/** Whether the pool's code is v3.5 or later (PoolInstance.sol): then it rounds in its own favour. */
export const isDirectedRevision = (revision: number) => revision >= 9

/** Whether the pool's code is v3.6 or later: then what a reserve sets for itself holds outside of eModes alone. */
export const isDecoupledRevision = (revision: number) => revision >= 10

/**
 * The scaled balance that is worth an amount where the pool rounds in its own favour. While an index is one ray or more,
 * as it is from the start, each scaled balance is worth another amount, so that there is one or none.
 */
export const scaledOfSupplied = (worth: bigint, index: bigint) => ceilDiv(worth * RAY, index)
export const scaledOfOwed = (worth: bigint, index: bigint) => (worth * RAY) / index

const wadDiv = (a: bigint, b: bigint) => (a * WAD + b / 2n) / b
const percentMul = (a: bigint, bps: bigint) => (a * bps + PERCENTAGE_FACTOR / 2n) / PERCENTAGE_FACTOR

/** A reserve as its last update left it. */
export interface AaveIndexes {
  liquidityRate: bigint
  variableBorrowRate: bigint
  liquidityIndex: bigint
  variableBorrowIndex: bigint
  /** Unix seconds. */
  updatedAt: number
}

/** Interest at a yearly rate over seconds, linear: what a supplied unit grows to. */
export function linearInterest(rate: bigint, seconds: number): bigint {
  return RAY + (rate * BigInt(seconds)) / SECONDS_PER_YEAR
}

/** Interest at a yearly rate over seconds, compounded by three terms of the binomial series: what a debt grows to. */
export function compoundedInterest(rate: bigint, seconds: number): bigint {
  const exp = BigInt(seconds)
  if (exp <= 0n) return RAY
  const minusTwo = exp > 2n ? exp - 2n : 0n
  const squared = rayMul(rate, rate) / (SECONDS_PER_YEAR * SECONDS_PER_YEAR)
  const cubed = rayMul(squared, rate) / SECONDS_PER_YEAR
  const second = (exp * (exp - 1n) * squared) / 2n
  const third = (exp * (exp - 1n) * minusTwo * cubed) / 6n
  return RAY + (rate * exp) / SECONDS_PER_YEAR + second + third
}

/** The index of supply with interest up to `at`. */
export function normalizedIncome(reserve: AaveIndexes, at: number): bigint {
  if (at <= reserve.updatedAt) return reserve.liquidityIndex
  return rayMul(linearInterest(reserve.liquidityRate, at - reserve.updatedAt), reserve.liquidityIndex)
}

/** The index of variable debt with interest up to `at`. */
export function normalizedDebt(reserve: AaveIndexes, at: number): bigint {
  if (at <= reserve.updatedAt) return reserve.variableBorrowIndex
  return rayMul(
    compoundedInterest(reserve.variableBorrowRate, at - reserve.updatedAt),
    reserve.variableBorrowIndex,
  )
}

/** One reserve as an account's health sees it. */
export interface AaveHolding {
  /** Base units with interest. */
  supplied: bigint
  borrowed: bigint
  isCollateral: boolean
  /** Of one whole unit, in the oracle's base currency. */
  price: bigint
  decimals: number
  /** Of the reserve itself: a threshold of zero means that it cannot be collateral. */
  liquidationThresholdBps: bigint
  ltvBps: bigint
  /** The pool rounds in its own favour (v3.5 and later): what is owed is worth its price rounded up. */
  isDirected?: boolean
  /** What counts instead while the account is in an eMode that the reserve belongs to. */
  eMode?: { liquidationThresholdBps: bigint; ltvBps: bigint }
  /** v3.6 and later: in an eMode it counts also where the reserve's own setting is zero. */
  isDecoupled?: boolean
}

/** The settings that hold for what an account has of a reserve. Zero is: no collateral, nothing to be borrowed against it. */
export function termsOf({
  eMode,
  isDecoupled,
  ...own
}: Pick<AaveHolding, 'liquidationThresholdBps' | 'ltvBps' | 'eMode' | 'isDecoupled'>) {
  const holds = (setting: 'liquidationThresholdBps' | 'ltvBps') =>
    eMode && (isDecoupled || own[setting] !== 0n) ? eMode[setting] : own[setting]
  return { liquidationThresholdBps: holds('liquidationThresholdBps'), ltvBps: holds('ltvBps') }
}

export interface AaveAccount {
  totalCollateralBase: bigint
  totalDebtBase: bigint
  ltvBps: bigint
  liquidationThresholdBps: bigint
  /** Scaled by 1e18; undefined without debt. */
  healthFactorWad: bigint | undefined
}

/** calculateUserAccountData; holdings in the order of the pool's list of reserves (the sums do not depend on it). */
export function aaveAccount(holdings: readonly AaveHolding[]): AaveAccount {
  let collateral = 0n
  let debt = 0n
  let ltv = 0n
  let threshold = 0n
  let isDirected = false
  for (const holding of holdings) {
    const { supplied, borrowed, isCollateral, price, decimals } = holding
    const unit = 10n ** BigInt(decimals)
    const terms = termsOf(holding)
    if (terms.liquidationThresholdBps !== 0n && isCollateral) {
      const value = (supplied * price) / unit
      collateral += value
      ltv += value * terms.ltvBps
      threshold += value * terms.liquidationThresholdBps
    }
    isDirected ||= holding.isDirected === true
    debt += holding.isDirected ? ceilDiv(borrowed * price, unit) : (borrowed * price) / unit
  }
  const ltvBps = collateral === 0n ? 0n : ltv / collateral
  const liquidationThresholdBps = collateral === 0n ? 0n : threshold / collateral
  // Up to v3.4 of the average threshold, of which a fraction of a basis point is cut off.
  const healthFactor = () =>
    isDirected
      ? wadDiv(threshold, debt) / PERCENTAGE_FACTOR
      : wadDiv(percentMul(collateral, liquidationThresholdBps), debt)
  return {
    totalCollateralBase: collateral,
    totalDebtBase: debt,
    ltvBps,
    liquidationThresholdBps,
    healthFactorWad: debt === 0n ? undefined : healthFactor(),
  }
}
