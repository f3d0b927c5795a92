import { accrueEvk, owedAssets, VIRTUAL_DEPOSIT } from '../../../abi/euler/math.ts'
import type { Reading } from '../../catalogue/reading.ts'
import { toWhole } from '../../http/amounts.ts'
import type { MarketPoint, Window } from '../../lending/family.ts'
import { type LendingAsset, ratio } from '../../lending/market.ts'
import { defineSeries, readStates, readStatesAt } from '../../lending/series.ts'
import { columns, type z } from '../../moment/query.ts'
import { feeBpsOf, owedTo, yearlyOfSecondRay } from './lending.ts'
import type { EvkLendingMarket } from './market.ts'
import { evkStatus } from './queries.ts'

const evkStates = defineSeries({
  name: 'evk_states',
  key: 'vault = {vault:String}',
  columns: evkStatus,
})

const evkOwed = defineSeries({
  name: 'evk_owed',
  key: 'vault = {vault:String}',
  columns: columns('evk_total', ['owed'], { accumulator: 'accumulator_ray' }),
})

/** Fees of the interest, scaled by 1e18. */
const evkFees = defineSeries({
  name: 'evk_fees',
  key: "vault = {vault:String} AND setting = 'fee:reserve' AND market = ''",
  columns: columns('vault_setting', [], { fee: 'value' }),
})

interface EvkAlso {
  total: z.output<typeof evkOwed.states.row> | undefined
  fee: z.output<typeof evkFees.states.row> | undefined
}

/** A vault with interest up to a moment. */
function stateOf(row: z.output<typeof evkStates.states.row>, also: EvkAlso, at: number) {
  const stored = {
    accumulator: BigInt(row.accumulator),
    interestRate: BigInt(row.interest_rate),
    owed: owedTo(row, also.total),
    cash: BigInt(row.cash),
    totalShares: BigInt(row.total_shares),
    accumulatedFees: BigInt(row.accumulated_fees),
    updatedAt: row.at,
  }
  const feeBps = feeBpsOf(also.fee?.fee)
  return { state: accrueEvk(stored, feeBps, at), feeBps }
}

/** A vault at these moments (unix seconds, ascending), with interest up to each. */
export async function evkStatesAt(chain: number, vault: string, times: readonly number[], reading: Reading) {
  const others = { total: { of: evkOwed }, fee: { of: evkFees } }
  const stateAt = await readStatesAt(chain, evkStates, others, { vault }, times, reading)
  return (at: number) => {
    const found = stateAt(at)
    return found && stateOf(found.state, found.also, at).state
  }
}

/** An asset of a market over time. */
export async function evkPoints(
  market: EvkLendingMarket,
  { side }: LendingAsset,
  window: Window,
  reading: Reading,
): Promise<MarketPoint[]> {
  const { vault } = side === 'loan' ? market.lender : market.collateral
  const others = { total: { of: evkOwed }, fee: { of: evkFees } }
  const states = await readStates(market.chainId, evkStates, others, { vault }, window, reading)
  return states.map(({ at, state: row, also }) => {
    const { state, feeBps } = stateOf(row, also, at)
    const borrowed = owedAssets(state.owed)
    const supplied = state.cash + borrowed
    const borrowRate = yearlyOfSecondRay(state.interestRate)
    return {
      at,
      block: row.block,
      supplied,
      borrowed,
      borrowRate,
      supplyRate: borrowRate * ratio(borrowed, supplied) * (1 - Number(feeBps) / 10_000),
      supplyIndex: ratio(supplied + VIRTUAL_DEPOSIT, state.totalShares + VIRTUAL_DEPOSIT),
      borrowIndex: toWhole(state.accumulator, 27),
    }
  })
}
