import { WAD } from '../../db/units.ts'

/**
 * Morpho Blue's arithmetic, bit for bit.
 * @see SharesMathLib.sol, MathLib.sol and Morpho.sol (_accrueInterest, _isHealthy) of @morpho-org/morpho-blue 1.0.0
 */

const VIRTUAL_SHARES = 1_000_000n
const VIRTUAL_ASSETS = 1n
/** ConstantsLib.sol: what an oracle's price is scaled by, beside the difference of the tokens' decimals. */
export const ORACLE_PRICE_SCALE = 10n ** 36n
const LIQUIDATION_CURSOR = (3n * WAD) / 10n
const MAX_LIQUIDATION_INCENTIVE_FACTOR = (115n * WAD) / 100n

/** The totals of a market as the contract holds them; base units, shares, unix seconds. */
export interface MorphoMarket {
  supplyAssets: bigint
  supplyShares: bigint
  borrowAssets: bigint
  borrowShares: bigint
  lastUpdate: number
  /** Share of interest that goes to the fee recipient, scaled by 1e18. */
  feeWad: bigint
}

export interface MorphoPosition {
  supplyShares: bigint
  borrowShares: bigint
  collateral: bigint
}

const mulDivDown = (x: bigint, y: bigint, d: bigint) => (x * y) / d
const mulDivUp = (x: bigint, y: bigint, d: bigint) => (x * y + d - 1n) / d

export function toAssetsDown(shares: bigint, totalAssets: bigint, totalShares: bigint): bigint {
  return mulDivDown(shares, totalAssets + VIRTUAL_ASSETS, totalShares + VIRTUAL_SHARES)
}

export function toAssetsUp(shares: bigint, totalAssets: bigint, totalShares: bigint): bigint {
  return mulDivUp(shares, totalAssets + VIRTUAL_ASSETS, totalShares + VIRTUAL_SHARES)
}

export function toSharesDown(assets: bigint, totalAssets: bigint, totalShares: bigint): bigint {
  return mulDivDown(assets, totalShares + VIRTUAL_SHARES, totalAssets + VIRTUAL_ASSETS)
}

export function toSharesUp(assets: bigint, totalAssets: bigint, totalShares: bigint): bigint {
  return mulDivUp(assets, totalShares + VIRTUAL_SHARES, totalAssets + VIRTUAL_ASSETS)
}

/** e^(rate × seconds) − 1 by the first three terms of its series; rate per second and result scaled by 1e18. */
export function wTaylorCompounded(rateWad: bigint, seconds: bigint): bigint {
  const first = rateWad * seconds
  const second = mulDivDown(first, first, 2n * WAD)
  const third = mulDivDown(second, first, 3n * WAD)
  return first + second + third
}

/** The market with interest up to `at` (unix seconds) at a rate per second, and what the accrual gave. */
export function accrueMorpho(
  market: MorphoMarket,
  rateWad: bigint,
  at: number,
): { market: MorphoMarket; interest: bigint; feeShares: bigint } {
  const elapsed = BigInt(at - market.lastUpdate)
  if (elapsed <= 0n) return { market, interest: 0n, feeShares: 0n }
  const interest = mulDivDown(market.borrowAssets, wTaylorCompounded(rateWad, elapsed), WAD)
  const supplyAssets = market.supplyAssets + interest
  const fee = mulDivDown(interest, market.feeWad, WAD)
  const feeShares = toSharesDown(fee, supplyAssets - fee, market.supplyShares)
  return {
    market: {
      ...market,
      supplyAssets,
      supplyShares: market.supplyShares + feeShares,
      borrowAssets: market.borrowAssets + interest,
      lastUpdate: at,
    },
    interest,
    feeShares,
  }
}

/** What a position can take out and what it owes, in base units of the loan asset. */
export function morphoBalances(position: MorphoPosition, market: MorphoMarket) {
  return {
    supplied: toAssetsDown(position.supplyShares, market.supplyAssets, market.supplyShares),
    borrowed: toAssetsUp(position.borrowShares, market.borrowAssets, market.borrowShares),
  }
}

/** What may be borrowed against collateral at an oracle's price; the position is healthy while it owes no more. */
export function morphoMaxBorrow(collateral: bigint, price: bigint, lltvWad: bigint): bigint {
  return mulDivDown(mulDivDown(collateral, price, ORACLE_PRICE_SCALE), lltvWad, WAD)
}

/** What a liquidator gets for one unit repaid, scaled by 1e18: min(1.15, 1 / (1 − 0.3 (1 − lltv))). */
export function liquidationIncentiveFactor(lltvWad: bigint): bigint {
  const discount = mulDivDown(LIQUIDATION_CURSOR, WAD - lltvWad, WAD)
  const factor = mulDivDown(WAD, WAD, WAD - discount)
  return factor < MAX_LIQUIDATION_INCENTIVE_FACTOR ? factor : MAX_LIQUIDATION_INCENTIVE_FACTOR
}
