import { zeroAddress } from 'viem'
import type { Reading } from '../../catalogue/reading.ts'
import type { MarketPoint, Window } from '../../lending/family.ts'
import { fractionOfWad, type LendingAsset, ratio, yearlyOfWad } from '../../lending/market.ts'
import { defineSeries, readStates, readStatesAt, UNMOVED } from '../../lending/series.ts'
import { columns, type z } from '../../moment/query.ts'
import { morphoStateAt } from './lending.ts'
import type { MorphoLendingMarket } from './market.ts'
import { MORPHO_STATE } from './queries.ts'

const morphoStates = defineSeries({
  name: 'morpho_states',
  key: 'market = {market:String}',
  columns: columns('morpho_state', MORPHO_STATE, { fee: 'fee_wad', borrow_rate: 'borrow_rate_wad' }),
})

/** Of the adaptive rate model. */
const morphoTargets = defineSeries({
  name: 'morpho_targets',
  key: 'market = {market:String}',
  columns: columns('morpho_rate', [], { rate: 'rate_at_target_wad' }),
})

/** Of other rate models. */
const morphoRates = defineSeries({
  name: 'morpho_rates',
  key: 'market = {market:String}',
  columns: columns('morpho_sampled_rate', [], { rate: 'rate_wad' }),
})

const OTHERS = { target: { of: morphoTargets }, sampled: { of: morphoRates } }

interface MorphoAlso {
  target: z.output<typeof morphoTargets.states.row> | undefined
  sampled: z.output<typeof morphoRates.states.row> | undefined
}

function stateOf(
  { irm }: MorphoLendingMarket['params'],
  row: z.output<typeof morphoStates.states.row>,
  { target, sampled }: MorphoAlso,
  at: number,
) {
  const model = {
    irm: irm === zeroAddress ? null : irm,
    rate_at_target: target?.rate ?? null,
    borrow_rate: sampled?.rate ?? row.borrow_rate,
  }
  return morphoStateAt({ ...row, ...model }, at)
}

/** A market at these moments (unix seconds, ascending), with interest up to each; undefined where that is not known. */
export async function morphoMarketAt(
  { id, chainId, params }: MorphoLendingMarket,
  times: readonly number[],
  reading: Reading,
) {
  const stateAt = await readStatesAt(chainId, morphoStates, OTHERS, { market: id }, times, reading)
  return (at: number) => {
    const found = stateAt(at)
    if (!found) return undefined
    const { stored, rate, state } = stateOf(params, found.state, found.also, at)
    const hasAccrued = stored.borrowAssets > 0n && at > stored.lastUpdate
    return rate === undefined && hasAccrued ? undefined : state
  }
}

/** An asset of a market over time. */
export async function morphoPoints(
  { id, chainId, params }: MorphoLendingMarket,
  { side }: LendingAsset,
  window: Window,
  reading: Reading,
): Promise<MarketPoint[]> {
  const states = await readStates(chainId, morphoStates, OTHERS, { market: id }, window, reading)
  return states.map(({ at, state: row, also }) => {
    const point = { at, block: row.block }
    if (side === 'collateral') return { ...UNMOVED, ...point, supplied: BigInt(row.collateral) }
    const { state, rate } = stateOf(params, row, also, at)
    const borrowRate = rate === undefined ? undefined : yearlyOfWad(rate)
    // A share begins as a millionth of an asset unit (SharesMathLib's virtual amounts).
    const index = (assets: bigint, shares: bigint) => ratio((assets + 1n) * 1_000_000n, shares + 1_000_000n)
    return {
      ...point,
      supplied: state.supplyAssets,
      borrowed: state.borrowAssets,
      borrowRate,
      supplyRate:
        borrowRate === undefined
          ? undefined
          : borrowRate * ratio(state.borrowAssets, state.supplyAssets) * (1 - fractionOfWad(state.feeWad)),
      supplyIndex: index(state.supplyAssets, state.supplyShares),
      borrowIndex: index(state.borrowAssets, state.borrowShares),
    }
  })
}
