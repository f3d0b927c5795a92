import {
  isDirectedRevision,
  normalizedDebt,
  normalizedIncome,
  owedAt,
  suppliedAt,
} from '../../../abi/aave-v3/math.ts'
import type { Reading } from '../../catalogue/reading.ts'
import { toWhole } from '../../http/amounts.ts'
import type { MarketPoint, Window } from '../../lending/family.ts'
import { type LendingAsset, yearlyOfRay } from '../../lending/market.ts'
import { defineSeries, readStates, readStatesAt } from '../../lending/series.ts'
import { columns, type z } from '../../moment/query.ts'
import type { AaveLendingMarket, AaveReserve } from './market.ts'

const aaveIndexes = defineSeries({
  name: 'aave_indexes',
  key: 'pool = {pool:String} AND asset = {asset:String}',
  columns: columns('aave_index', ['liquidity_rate', 'liquidity_index'], {
    borrow_rate: 'variable_borrow_rate',
    borrow_index: 'variable_borrow_index',
  }),
})

const aaveScaledTotals = defineSeries({
  name: 'aave_scaled_totals',
  key: 'token = {token:String}',
  columns: columns('aave_total', ['scaled']),
})

const aaveRevisions = defineSeries({
  name: 'aave_revisions',
  key: 'token = {token:String}',
  columns: columns('aave_revision', ['revision']),
})

const indexesOf = (row: z.output<typeof aaveIndexes.states.row>) => ({
  liquidityRate: BigInt(row.liquidity_rate),
  variableBorrowRate: BigInt(row.borrow_rate),
  liquidityIndex: BigInt(row.liquidity_index),
  variableBorrowIndex: BigInt(row.borrow_index),
  updatedAt: row.at,
})

/** What scaled balances of a reserve are worth at these moments (unix seconds, ascending). */
export async function aaveWorth(
  { chainId, root }: AaveLendingMarket,
  { asset, aToken, debtToken }: AaveReserve,
  times: readonly number[],
  reading: Reading,
) {
  const codes = {
    supplyCode: { of: aaveRevisions, key: { token: aToken } },
    debtCode: { of: aaveRevisions, key: { token: debtToken } },
  }
  const stateAt = await readStatesAt(chainId, aaveIndexes, codes, { pool: root, asset }, times, reading)
  return (at: number) => {
    const found = stateAt(at)
    if (!found) return undefined
    const stored = indexesOf(found.state)
    const isDirected = Object.values(found.also).some(of => isDirectedRevision(of?.revision ?? 0))
    return {
      supplied: (scaled: bigint) => suppliedAt(scaled, normalizedIncome(stored, at), isDirected),
      owed: (scaled: bigint) => owedAt(scaled, normalizedDebt(stored, at), isDirected),
    }
  }
}

/** An asset of a market over time. */
export async function aavePoints(
  market: AaveLendingMarket,
  asset: LendingAsset,
  window: Window,
  reading: Reading,
): Promise<MarketPoint[]> {
  const reserve = market.reserves.find(of => of.asset === asset.info.address)
  if (!reserve) return []
  const [supplyKey, debtKey] = [{ token: reserve.aToken }, { token: reserve.debtToken }]
  const others = {
    supply: { of: aaveScaledTotals, key: supplyKey },
    debt: { of: aaveScaledTotals, key: debtKey },
    supplyCode: { of: aaveRevisions, key: supplyKey },
    debtCode: { of: aaveRevisions, key: debtKey },
  }
  const key = { pool: market.root, asset: reserve.asset }
  const states = await readStates(market.chainId, aaveIndexes, others, key, window, reading)
  return states.map(({ at, state: row, also }) => {
    const stored = indexesOf(row)
    const { supply, debt: owed, supplyCode, debtCode } = also
    const isDirected = [supplyCode, debtCode].some(of => isDirectedRevision(of?.revision ?? 0))
    const [income, debt] = [normalizedIncome(stored, at), normalizedDebt(stored, at)]
    return {
      at,
      block: row.block,
      supplyRate: yearlyOfRay(stored.liquidityRate),
      borrowRate: yearlyOfRay(stored.variableBorrowRate),
      supplied: suppliedAt(BigInt(supply?.scaled ?? 0), income, isDirected),
      borrowed: owedAt(BigInt(owed?.scaled ?? 0), debt, isDirected),
      supplyIndex: toWhole(income, 27),
      borrowIndex: toWhole(debt, 27),
    }
  })
}
