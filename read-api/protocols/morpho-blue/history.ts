import { zeroAddress } from 'viem'
import type { Reading } from '../../catalogue/reading.ts'
import type { MarketPoint, Window } from '../../lending/family.ts'
import { fractionOfWad, type LendingAsset, ratio, yearlyOfWad } from '../../lending/market.ts'
import { defineSeries, readStates, readStatesAt, text, UNMOVED } from '../../lending/series.ts'
import { z } from '../../moment/query.ts'
import { morphoStateAt } from './lending.ts'
import type { MorphoLendingMarket } from './market.ts'

const morphoStates = defineSeries({
  name: 'morpho_states',
  table: 'morpho_state',
  key: 'market = {market:String}',
  columns: {
    supply_assets: text('supply_assets'),
    supply_shares: text('supply_shares'),
    borrow_assets: text('borrow_assets'),
    borrow_shares: text('borrow_shares'),
    collateral: text('collateral'),
    last_update: 's.last_update',
    fee: text('fee_wad'),
    borrow_rate: text('borrow_rate_wad'),
  },
  row: {
    supply_assets: z.string(),
    supply_shares: z.string(),
    borrow_assets: z.string(),
    borrow_shares: z.string(),
    collateral: z.string(),
    last_update: z.number(),
    fee: z.string(),
    borrow_rate: z.string().nullable(),
  },
})

/** Of the adaptive rate model. */
const morphoTargets = defineSeries({
  name: 'morpho_targets',
  table: 'morpho_rate',
  key: 'market = {market:String}',
  columns: { rate: text('rate_at_target_wad') },
  row: { rate: z.string() },
})

/** Of other rate models. */
const morphoRates = defineSeries({
  name: 'morpho_rates',
  table: 'morpho_sampled_rate',
  key: 'market = {market:String}',
  columns: { rate: text('rate_wad') },
  row: { rate: z.string() },
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
