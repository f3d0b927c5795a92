import { ONE, ptToAsset, syToAsset } from '../../../abi/pendle-v2/math.ts'
import type { FixedTermFigures, FixedTermState } from '../../fixed-term/market.ts'

/**
 * What a state comes to at a time (unix seconds), rounded down: the pool's SY at its exchange rate and its PT at the rate of the
 * last trade; with the PT outside of the pool, at the same.
 */
export function pendleFigures(state: FixedTermState, expiry: number, at: number): FixedTermFigures {
  const { totalPt, totalSy, totalLp, lnRate, ptSupply, exchangeRate, pyIndex } = state
  const implied = totalLp === 0n ? undefined : Math.expm1(Number(lnRate) / 1e18)
  const apy = implied !== undefined && Number.isFinite(implied) ? implied : undefined
  if (exchangeRate === undefined) return { apy, liquidity: undefined, tvl: undefined }
  const price = ptToAsset({ lnRate, expiry, exchangeRate, pyIndex }, at)
  if (price === undefined) return { apy, liquidity: undefined, tvl: undefined }
  const liquidity = syToAsset(exchangeRate, totalSy) + (totalPt * price) / ONE
  const outside = ptSupply === undefined || ptSupply < totalPt ? undefined : ptSupply - totalPt
  return { apy, liquidity, tvl: outside === undefined ? undefined : liquidity + (outside * price) / ONE }
}
