/**
 * What Pendle's contracts reckon, unit for unit: 18-digit fixed point, rounded down.
 * @see LogExpMath.sol, MarketMathCore.sol, PendlePYOracleLib.sol and SYUtils.sol of @pendle/core-v2 6.11.0
 */

export const ONE = 10n ** 18n
/** Seconds of a year, as rates have it. */
export const YEAR = 31_536_000n

const ONE_20 = 10n ** 20n
const MOST_EXPONENT = 130n * ONE

/** e^128 and e^64, without decimals. */
const LARGE: readonly [exponent: bigint, power: bigint][] = [
  [128n * ONE, 38877084059945950922200000000000000000000000000000000000n],
  [64n * ONE, 6235149080811616882910000000n],
]
/** e^32 down to e^(1/4), with 20 decimals as their exponents. */
const SMALL: readonly [exponent: bigint, power: bigint][] = [
  [32n * ONE_20, 7896296018268069516100000000000000n],
  [16n * ONE_20, 888611052050787263676000000n],
  [8n * ONE_20, 298095798704172827474000n],
  [4n * ONE_20, 5459815003314423907810n],
  [2n * ONE_20, 738905609893065022723n],
  [ONE_20, 271828182845904523536n],
  [ONE_20 / 2n, 164872127070012814685n],
  [ONE_20 / 4n, 128402541668774148407n],
]

/** e^x of a number not below zero; undefined where the contracts revert, for more than 130. Scaled by 1e18. */
export function exp(x: bigint): bigint | undefined {
  if (x < 0n || x > MOST_EXPONENT) return undefined
  let rest = x
  let large = 1n
  const found = LARGE.find(([exponent]) => rest >= exponent)
  if (found) {
    rest -= found[0]
    large = found[1]
  }
  rest *= 100n
  let product = ONE_20
  for (const [exponent, power] of SMALL) {
    if (rest < exponent) continue
    rest -= exponent
    product = (product * power) / ONE_20
  }
  let term = rest
  let sum = ONE_20 + term
  for (let n = 2n; n <= 12n; n++) {
    term = (term * rest) / ONE_20 / n
    sum += term
  }
  return (((product * sum) / ONE_20) * large) / 100n
}

/**
 * What a PT is worth in the asset at a time (unix seconds), scaled by 1e18: 1 from the expiry on. Where the SY lost value, less.
 * Undefined beyond what the contracts can reckon.
 *
 * @param lnRate continuous, per year, scaled by 1e18
 * @param exchangeRate assets for an SY, scaled by 1e18
 * @param pyIndex the highest exchange rate that the YT has seen; absent: none above this one
 */
export function ptToAsset(
  { lnRate, expiry, exchangeRate, pyIndex }: { lnRate: bigint; expiry: number; exchangeRate: bigint; pyIndex?: bigint | undefined },
  at: number,
): bigint | undefined {
  const raw = at >= expiry ? ONE : discount(lnRate, BigInt(expiry - at))
  if (raw === undefined || pyIndex === undefined || exchangeRate >= pyIndex) return raw
  return (raw * exchangeRate) / pyIndex
}

function discount(lnRate: bigint, seconds: bigint): bigint | undefined {
  const assetToPt = exp((lnRate * seconds) / YEAR)
  return assetToPt === undefined ? undefined : (ONE * ONE) / assetToPt
}

/** SY in base units of the asset. */
export const syToAsset = (exchangeRate: bigint, sy: bigint): bigint => (sy * exchangeRate) / ONE
