import { RAY, WAD } from '../../db/units.ts'

/**
 * The debt arithmetic of the Euler Vault Kit, bit for bit. Owed: a debt in base units of the asset times 2^31; rates per
 * second and accumulators in ray (1e27).
 * @see Cache.sol, BorrowUtils.sol, LTVConfig.sol and lib/RPow.sol of euler-xyz/euler-vault-kit
 */

const SHIFT = 31n
const CONFIG_SCALE = 10_000n

/** x^n in ray, each product rounded half up. */
function power(base: bigint, exponent: bigint): bigint {
  let x = base
  let z = exponent % 2n === 0n ? RAY : x
  for (let n = exponent / 2n; n > 0n; n /= 2n) {
    x = (x * x + RAY / 2n) / RAY
    if (n % 2n === 1n) z = (z * x + RAY / 2n) / RAY
  }
  return z
}

/** A vault as its last act left it, and that moment in unix seconds. */
export interface EvkVault {
  accumulator: bigint
  interestRate: bigint
  owed: bigint
  cash: bigint
  totalShares: bigint
  accumulatedFees: bigint
  updatedAt: number
}

/** The vault with interest and fees up to `at`; feeBps: of the interest, in hundredths of a percent. */
export function accrueEvk(vault: EvkVault, feeBps: bigint, at: number): EvkVault {
  const elapsed = BigInt(at - vault.updatedAt)
  if (elapsed <= 0n) return vault
  const accumulator = (vault.accumulator * power(vault.interestRate + RAY, elapsed)) / RAY
  const owed = (vault.owed * accumulator) / vault.accumulator
  const feeAssets = ((owed - vault.owed) * feeBps) / (CONFIG_SCALE << SHIFT)
  const total = vault.cash + (owed >> SHIFT)
  const totalShares = feeAssets === 0n ? vault.totalShares : (total * vault.totalShares) / (total - feeAssets)
  return {
    ...vault,
    accumulator,
    owed,
    totalShares,
    accumulatedFees: vault.accumulatedFees + totalShares - vault.totalShares,
    updatedAt: at,
  }
}

/** What whole base units are as a debt, which counts fractions. */
export const owedOf = (assets: bigint) => assets << SHIFT
/** Base units of what is owed, rounded up. */
export const owedAssets = (owed: bigint) => (owed + (1n << SHIFT) - 1n) >> SHIFT

/** ConversionHelpers.sol: added to assets and shares when one is converted into the other. */
export const VIRTUAL_DEPOSIT = 1_000_000n

/** What shares of a vault are worth in its asset, rounded down. */
export const assetsOfShares = (shares: bigint, { cash, owed, totalShares }: EvkVault) =>
  (shares * (cash + owedAssets(owed) + VIRTUAL_DEPOSIT)) / (totalShares + VIRTUAL_DEPOSIT)

/** What a debt of one moment has become at another, by the accumulators of both. */
export const owedLater = (owed: bigint, then: bigint, now: bigint) => (owed === 0n ? 0n : (owed * now) / then)

export interface EvkLtv {
  liquidationBps: number
  /** What held before the change. */
  initialBps: number
  /** Unix seconds at which the new one holds; until then, and rampSeconds long, the old one goes down to it. */
  targetAt: number
  rampSeconds: number
}

/** The liquidation LTV at a moment, in hundredths of a percent. */
export function liquidationLtv(
  { liquidationBps, initialBps, targetAt, rampSeconds }: EvkLtv,
  at: number,
): number {
  if (at >= targetAt || liquidationBps >= initialBps) return liquidationBps
  return liquidationBps + Math.floor(((initialBps - liquidationBps) * (targetAt - at)) / rampSeconds)
}

/** Of a price: units of account for a base unit of an asset, times 1e36. */
export const EVK_PRICE_SCALE = 10n ** 36n

/** The price by which `assets` base units are quoted as so many units of account; undefined where there is none. */
export function evkPrice(quote: bigint | undefined, assets: bigint | undefined): bigint | undefined {
  if (quote === undefined || assets === undefined || assets === 0n) return undefined
  return (quote * EVK_PRICE_SCALE + assets / 2n) / assets
}

/** What a base unit amount is worth in the unit of account, rounded down as oracles do. */
export const evkWorth = (assets: bigint, price: bigint) => (assets * price) / EVK_PRICE_SCALE

export interface EvkHolding {
  /** What the shares are worth, base units of the vault's asset. */
  assets: bigint
  price: bigint
  liquidationBps: number
}

/**
 * What accountLiquidity(account, true) of a vault weighs, in its unit of account: the debt, the collateral, and the
 * collateral less what its liquidation LTV leaves out. @see LiquidityUtils.sol
 */
export function evkLiquidity(debt: { assets: bigint; price: bigint }, holdings: readonly EvkHolding[]) {
  let collateral = 0n
  let limit = 0n
  for (const { assets, price, liquidationBps } of holdings) {
    const worth = evkWorth(assets, price)
    if (liquidationBps === 0) continue
    collateral += worth
    limit += (worth * BigInt(liquidationBps)) / CONFIG_SCALE
  }
  return { liability: evkWorth(debt.assets, debt.price), collateral, limit }
}

/** What a liquidator gets at most beyond the debt that is taken over, as a fraction of it. */
export const evkPenalty = (maxDiscountWad: bigint) => {
  const kept = WAD - maxDiscountWad
  return kept <= 0n ? 0n : (maxDiscountWad * WAD) / kept
}
