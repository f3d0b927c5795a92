import { zeroAddress } from 'viem'
import type { Reading } from '../../catalogue/reading.ts'
import type { MarketPoint, Window } from '../../lending/family.ts'
import { fractionOfWad, type LendingAsset, ratio, yearlyOfWad } from '../../lending/market.ts'
import { defineSeries, readStates, text, UNMOVED } from '../../lending/series.ts'
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

/** An asset of a market over time. */
export async function morphoPoints(
  { id, chainId, params }: MorphoLendingMarket,
  { side }: LendingAsset,
  window: Window,
  reading: Reading,
): Promise<MarketPoint[]> {
  const others = { target: { of: morphoTargets }, sampled: { of: morphoRates } }
  const states = await readStates(chainId, morphoStates, others, { market: id }, window, reading)
  const irm = params.irm === zeroAddress ? null : params.irm
  return states.map(({ at, state: row, also }) => {
    const point = { at, block: row.block }
    if (side === 'collateral') return { ...UNMOVED, ...point, supplied: BigInt(row.collateral) }
    const model = {
      irm,
      rate_at_target: also.target?.rate ?? null,
      borrow_rate: also.sampled?.rate ?? row.borrow_rate,
    }
    const { state, rate } = morphoStateAt({ ...row, ...model }, at)
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
