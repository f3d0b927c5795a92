import { accrueComet, cometAmounts } from '../../../abi/compound-v3/math.ts'
import type { Reading } from '../../catalogue/reading.ts'
import { toWhole } from '../../http/amounts.ts'
import type { MarketPoint, Window } from '../../lending/family.ts'
import { type LendingAsset, yearlyOfWad } from '../../lending/market.ts'
import { defineSeries, readStates, readStatesAt, UNMOVED } from '../../lending/series.ts'
import { columns } from '../../moment/query.ts'
import { cometPoint } from './lending.ts'
import type { CometLendingMarket } from './market.ts'
import { cometRates, cometTotals } from './queries.ts'

const cometStates = defineSeries({
  name: 'comet_states',
  key: 'comet = {comet:String}',
  columns: cometTotals,
})

const cometConfigurations = defineSeries({
  name: 'comet_configurations',
  key: 'comet = {comet:String}',
  columns: cometRates,
})

const cometCollateralTotals = defineSeries({
  name: 'comet_collateral_totals',
  key: 'comet = {comet:String} AND asset = {asset:String}',
  columns: columns('comet_collateral_total', ['total']),
})

/** The totals of a Comet at these moments (unix seconds, ascending), with interest up to each. */
export async function cometTotalsAt(
  { chainId, id }: CometLendingMarket,
  times: readonly number[],
  reading: Reading,
) {
  const configuration = { of: cometConfigurations, isNeeded: true }
  const stateAt = await readStatesAt(chainId, cometStates, { configuration }, { comet: id }, times, reading)
  return (at: number) => {
    const { state, also } = stateAt(at) ?? {}
    if (!state || !also?.configuration) return undefined
    const { totals, rates } = cometPoint({ ...also.configuration, ...state })
    return accrueComet(totals, rates, at)
  }
}

/** An asset of a market over time. */
export async function cometPoints(
  { id, chainId }: CometLendingMarket,
  asset: LendingAsset,
  window: Window,
  reading: Reading,
): Promise<MarketPoint[]> {
  const key = { comet: id, asset: asset.id }
  if (asset.side === 'collateral') {
    const states = await readStates(chainId, cometCollateralTotals, {}, key, window, reading)
    return states.map(({ at, state }) => ({
      ...UNMOVED,
      at,
      block: state.block,
      supplied: BigInt(state.total),
    }))
  }
  const configuration = { of: cometConfigurations, isNeeded: true }
  const states = await readStates(chainId, cometStates, { configuration }, key, window, reading)
  return states.flatMap(({ at, state, also }) => {
    if (!also.configuration) return []
    const { totals: stored, rates, supplyRate, borrowRate } = cometPoint({ ...also.configuration, ...state })
    const totals = accrueComet(stored, rates, at)
    return {
      at,
      block: state.block,
      ...cometAmounts(totals),
      supplyRate: yearlyOfWad(supplyRate),
      borrowRate: yearlyOfWad(borrowRate),
      supplyIndex: toWhole(totals.supplyIndex, 15),
      borrowIndex: toWhole(totals.borrowIndex, 15),
    }
  })
}
