import { WAD } from '../../db/units.ts'

/**
 * The arithmetic of Morpho's adaptive-curve rate model, bit for bit; rates per second and utilization scaled by 1e18.
 * BigInt division rounds towards zero, as Solidity's does.
 * @see AdaptiveCurveIrm.sol, ExpLib.sol and ConstantsLib.sol of morpho-org/morpho-blue-irm
 */

const SECONDS_PER_YEAR = 31_536_000n
const CURVE_STEEPNESS = 4n * WAD
const TARGET_UTILIZATION = (9n * WAD) / 10n
const ADJUSTMENT_SPEED = (50n * WAD) / SECONDS_PER_YEAR
const INITIAL_RATE_AT_TARGET = (4n * WAD) / 100n / SECONDS_PER_YEAR
const MIN_RATE_AT_TARGET = WAD / 1_000n / SECONDS_PER_YEAR
const MAX_RATE_AT_TARGET = (2n * WAD) / SECONDS_PER_YEAR

const LN_2 = 693_147_180_559_945_309n
const LN_WEI = -41_446_531_673_892_822_312n
const WEXP_UPPER_BOUND = 93_859_467_695_000_404_319n
const WEXP_UPPER_VALUE = 57_716_089_161_558_943_949_701_069_502_944_508_345_128_422_502_756_744_429_568n

const wMul = (a: bigint, b: bigint) => (a * b) / WAD
const wDiv = (a: bigint, b: bigint) => (a * WAD) / b

function wExp(x: bigint): bigint {
  if (x < LN_WEI) return 0n
  if (x >= WEXP_UPPER_BOUND) return WEXP_UPPER_VALUE
  const q = (x + (x < 0n ? -(LN_2 / 2n) : LN_2 / 2n)) / LN_2
  const r = x - q * LN_2
  const expR = WAD + r + (r * r) / WAD / 2n
  return q >= 0n ? expR << q : expR >> -q
}

function newRateAtTarget(start: bigint, adaptation: bigint): bigint {
  const rate = wMul(start, wExp(adaptation))
  return rate < MIN_RATE_AT_TARGET
    ? MIN_RATE_AT_TARGET
    : rate > MAX_RATE_AT_TARGET
      ? MAX_RATE_AT_TARGET
      : rate
}

/**
 * The rate per second over a period, as borrowRateView averages it, and that at its end. `rateAtTarget`: what the model
 * logged last for the market, 0 before its first log; `elapsed`: seconds since the market's last accrual.
 */
export function adaptiveRate(
  market: { supplyAssets: bigint; borrowAssets: bigint },
  rateAtTarget: bigint,
  elapsed: bigint,
): { average: bigint; end: bigint } {
  const utilization = market.supplyAssets > 0n ? wDiv(market.borrowAssets, market.supplyAssets) : 0n
  const norm = utilization > TARGET_UTILIZATION ? WAD - TARGET_UTILIZATION : TARGET_UTILIZATION
  const error = wDiv(utilization - TARGET_UTILIZATION, norm)
  const coefficient = error < 0n ? WAD - wDiv(WAD, CURVE_STEEPNESS) : CURVE_STEEPNESS - WAD
  const curve = (rate: bigint) => wMul(wMul(coefficient, error) + WAD, rate)
  if (rateAtTarget === 0n)
    return { average: curve(INITIAL_RATE_AT_TARGET), end: curve(INITIAL_RATE_AT_TARGET) }
  const adaptation = wMul(ADJUSTMENT_SPEED, error) * elapsed
  if (adaptation === 0n) return { average: curve(rateAtTarget), end: curve(rateAtTarget) }
  const end = newRateAtTarget(rateAtTarget, adaptation)
  const middle = newRateAtTarget(rateAtTarget, adaptation / 2n)
  return { average: curve((rateAtTarget + end + 2n * middle) / 4n), end: curve(end) }
}
