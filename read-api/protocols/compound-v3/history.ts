import { accrueComet, cometAmounts } from '../../../abi/compound-v3/math.ts'
import type { Reading } from '../../catalogue/reading.ts'
import { toWhole } from '../../http/amounts.ts'
import type { MarketPoint, Window } from '../../lending/family.ts'
import { type LendingAsset, yearlyOfWad } from '../../lending/market.ts'
import { defineSeries, readStates, readStatesAt, text, UNMOVED } from '../../lending/series.ts'
import { z } from '../../moment/query.ts'
import { cometPoint } from './lending.ts'
import type { CometLendingMarket } from './market.ts'

const cometTotals = ['supply_index', 'borrow_index', 'supply_principal', 'borrow_principal'] as const
const cometRates = (['supply', 'borrow'] as const).flatMap(side =>
  (['kink', 'rate_base', 'rate_slope_low', 'rate_slope_high'] as const).map(
    name => `${side}_${name}_wad` as const,
  ),
)
type Texts<K extends string> = { [N in K]: z.ZodString }
const shapeOf = <K extends string>(names: readonly K[]) =>
  Object.fromEntries(names.map(name => [name, z.string()])) as Texts<K>
const sqlOf = <K extends string>(names: readonly K[]) =>
  Object.fromEntries(names.map(name => [name, text(name)])) as { [N in K]: string }

const cometStates = defineSeries({
  name: 'comet_states',
  table: 'comet_state',
  key: 'comet = {comet:String}',
  columns: { ...sqlOf(cometTotals), updated_at: 's.updated_at' },
  row: { ...shapeOf(cometTotals), updated_at: z.number() },
})

const cometConfigurations = defineSeries({
  name: 'comet_configurations',
  table: 'comet_market',
  key: 'comet = {comet:String}',
  columns: sqlOf(cometRates),
  row: shapeOf(cometRates),
})

const cometCollateralTotals = defineSeries({
  name: 'comet_collateral_totals',
  table: 'comet_collateral_total',
  key: 'comet = {comet:String} AND asset = {asset:String}',
  columns: { total: text('total') },
  row: { total: z.string() },
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
