/**
 * Compound v3's arithmetic, bit for bit; rates per second and factors scaled by 1e18, indexes by 1e15, prices in the
 * unit of the market's feeds.
 * @see CometCore.sol and Comet.sol of compound-finance/comet (solc 0.8.15)
 */

export const FACTOR_SCALE = 10n ** 18n
const BASE_INDEX_SCALE = 10n ** 15n

const mulFactor = (n: bigint, factor: bigint) => (n * factor) / FACTOR_SCALE

export interface CometRateModel {
  kink: bigint
  base: bigint
  slopeLow: bigint
  slopeHigh: bigint
}

/** totalsBasic(): principals before interest, indexes as of the last accrual. */
export interface CometTotals {
  supplyIndex: bigint
  borrowIndex: bigint
  supplyPrincipal: bigint
  borrowPrincipal: bigint
  /** Unix seconds. */
  updatedAt: number
}

/** getSupplyRate and getBorrowRate at a utilization. */
export function cometRate({ kink, base, slopeLow, slopeHigh }: CometRateModel, utilization: bigint): bigint {
  if (utilization <= kink) return base + mulFactor(slopeLow, utilization)
  return base + mulFactor(slopeLow, kink) + mulFactor(slopeHigh, utilization - kink)
}

/** What a principal of that index is worth, rounded down for lenders and borrowers alike. */
export const presentValue = (index: bigint, principal: bigint) => (principal * index) / BASE_INDEX_SCALE

/** The principal that is worth `value`: the only one, since an index is never less than its scale. */
export const principalWorth = (index: bigint, value: bigint) =>
  (value * BASE_INDEX_SCALE + index - 1n) / index

/** Debt over supply at the indexes of the last accrual, scaled by 1e18: the contract does not accrue before it answers. */
export function cometUtilization(totals: CometTotals): bigint {
  const supplied = presentValue(totals.supplyIndex, totals.supplyPrincipal)
  const borrowed = presentValue(totals.borrowIndex, totals.borrowPrincipal)
  return supplied === 0n ? 0n : (borrowed * FACTOR_SCALE) / supplied
}

/** The totals with interest up to `at`: each index grows by its rate times the seconds, once. */
export function accrueComet(
  totals: CometTotals,
  rates: { supply: CometRateModel; borrow: CometRateModel },
  at: number,
): CometTotals {
  if (at <= totals.updatedAt) return totals
  return {
    ...totals,
    supplyIndex: accruedIndex(totals.supplyIndex, totals, rates.supply, at),
    borrowIndex: accruedIndex(totals.borrowIndex, totals, rates.borrow, at),
    updatedAt: at,
  }
}

/** One of the indexes of `totals` with interest up to `at`. */
export function accruedIndex(index: bigint, totals: CometTotals, model: CometRateModel, at: number): bigint {
  const elapsed = BigInt(at > totals.updatedAt ? at - totals.updatedAt : 0)
  return index + mulFactor(index, cometRate(model, cometUtilization(totals)) * elapsed)
}

/** totalSupply() and totalBorrow() of accrued totals. */
export function cometAmounts(totals: CometTotals) {
  return {
    supplied: presentValue(totals.supplyIndex, totals.supplyPrincipal),
    borrowed: presentValue(totals.borrowIndex, totals.borrowPrincipal),
  }
}

/** balanceOf and borrowBalanceOf of a principal, at accrued totals: one of them is zero. */
export function cometBalances(principal: bigint, totals: CometTotals) {
  return {
    supplied: principal > 0n ? presentValue(totals.supplyIndex, principal) : 0n,
    borrowed: principal < 0n ? presentValue(totals.borrowIndex, -principal) : 0n,
  }
}

export interface CometHolding {
  /** Base units of the collateral asset. */
  balance: bigint
  price: bigint
  scale: bigint
  borrowCollateralFactor: bigint
  liquidateCollateralFactor: bigint
}

/**
 * What isBorrowCollateralized and isLiquidatable weigh. They value the debt at the indexes of the last accrual; give
 * accrued totals' debt for what they will say once the market has been touched.
 */
export function cometAccount(
  borrowed: bigint,
  base: { price: bigint; scale: bigint },
  held: readonly CometHolding[],
) {
  let collateral = 0n
  let borrowLimit = 0n
  let liquidationLimit = 0n
  for (const { balance, price, scale, ...factors } of held) {
    const value = (balance * price) / scale
    collateral += value
    borrowLimit += mulFactor(value, factors.borrowCollateralFactor)
    liquidationLimit += mulFactor(value, factors.liquidateCollateralFactor)
  }
  const debt = (borrowed * base.price) / base.scale
  return {
    collateral,
    debt,
    borrowLimit,
    liquidationLimit,
    isBorrowCollateralized: borrowLimit >= debt,
    isLiquidatable: liquidationLimit < debt,
  }
}
