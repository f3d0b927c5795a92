import { zeroAddress } from 'viem'
import {
  isDirectedRevision,
  normalizedDebt,
  normalizedIncome,
  owedAt,
  suppliedAt,
} from '../../abi/aave-v3/math.ts'
import { accrueComet, cometAmounts } from '../../abi/compound-v3/math.ts'
import { accrueEvk, owedAssets, VIRTUAL_DEPOSIT } from '../../abi/euler/math.ts'
import { toWhole } from '../http/amounts.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { ask, type NamedQuery, type z } from '../moment/query.ts'
import { cometPoint } from '../protocols/compound-v3/lending.ts'
import { feeBpsOf, owedTo, yearlyOfSecondRay } from '../protocols/euler-v2/lending.ts'
import { morphoStateAt } from '../protocols/morpho-blue/lending.ts'
import {
  type AaveLendingMarket,
  type CometLendingMarket,
  type EvkLendingMarket,
  fractionOfWad,
  type LendingAsset,
  type LendingMarket,
  type MorphoLendingMarket,
  ratio,
  yearlyOfRay,
  yearlyOfWad,
} from './market.ts'
import * as series from './series-queries.ts'

/** An asset of a market as it stood at a moment, interest included. */
export interface MarketPoint {
  /** Unix seconds. */
  at: number
  /** Of the last update that is in it. */
  block: number
  supplyRate: number | undefined
  borrowRate: number | undefined
  supplied: bigint
  borrowed: bigint
  supplyIndex: number
  borrowIndex: number
}

/** Buckets of `seconds` that begin in [from, to), less the first `offset`, at most `limit`. */
export interface Window {
  seconds: number
  from: number
  to: number
  limit: number
  offset: number
}

/**
 * A point for each bucket that began since the market did: as it stood when the bucket began, with interest up to then.
 */
export async function readHistory(
  market: LendingMarket,
  asset: LendingAsset,
  window: Window,
  context: EndpointContext,
): Promise<MarketPoint[]> {
  if (market.protocol === 'aave-v3') return aavePoints(market, asset, window, context)
  if (market.protocol === 'compound-v3') return cometPoints(market, asset, window, context)
  if (market.protocol === 'euler-v2') return evkPoints(market, asset, window, context)
  return morphoPoints(market, asset, window, context)
}

interface Series<R extends z.ZodType<{ at: number; block: number }>> {
  first: NamedQuery<z.ZodType<{ at: number }>>
  states: NamedQuery<R>
}
type Row<S> = S extends Series<infer R> ? z.output<R> : never

/**
 * The states of one market that buckets of a window begin with. The first series decides when the market began, and those
 * that are needed do too; of the others there may be none yet.
 */
async function readStates<
  M extends Series<z.ZodType<{ at: number; block: number }>>,
  O extends Record<
    string,
    { of: Series<z.ZodType<{ at: number; block: number }>>; key?: Record<string, string>; isNeeded?: boolean }
  >,
>(
  chain: number,
  main: M,
  others: O,
  key: Record<string, string>,
  { seconds, from, to, limit, offset }: Window,
  { deps, catalogue, signal }: EndpointContext,
): Promise<{ at: number; state: Row<M>; also: { [K in keyof O]: Row<O[K]['of']> | undefined } }[]> {
  const { position: p = 0, blockTime = 0 } = catalogue.chain(chain, 'lending') ?? {}
  const pinned = { chain, p, ...key }
  const needed = Object.values(others).filter(({ isNeeded }) => isNeeded)
  const firsts = await Promise.all(
    [{ of: main, key: {} }, ...needed].map(async other => {
      const [row] = await ask(deps.clickhouse, other.of.first, { ...pinned, ...other.key }, signal)
      return row?.at ?? Number.POSITIVE_INFINITY
    }),
  )
  const began = Math.max(...firsts)
  const start = Math.max(from, Math.ceil(began / seconds) * seconds) + offset * seconds
  const end = Math.min(to - 1, blockTime, start + (limit - 1) * seconds)
  if (start > end) return []
  const asked = { ...pinned, seconds, from: start, to: end }
  const names = Object.keys(others)
  const [rows, ...more] = await Promise.all([
    ask(deps.clickhouse, main.states, asked, signal),
    ...names.map(name => {
      const other = others[name]
      return other ? ask(deps.clickhouse, other.of.states, { ...asked, ...other.key }, signal) : []
    }),
  ])
  const walk = <T extends { at: number }>(list: readonly T[]) => {
    let next = 0
    return (at: number) => {
      while ((list[next]?.at ?? Number.POSITIVE_INFINITY) <= at) next++
      return list[next - 1]
    }
  }
  const stateAt = walk(rows as Row<M>[])
  const othersAt = more.map(list => walk(list))
  const points = []
  for (let at = start; at <= end; at += seconds) {
    const state = stateAt(at)
    const also = Object.fromEntries(names.map((name, i) => [name, othersAt[i]?.(at)]))
    if (state) points.push({ at, state, also: also as { [K in keyof O]: Row<O[K]['of']> | undefined } })
  }
  return points
}

const UNMOVED = { supplyRate: 0, borrowRate: 0, borrowed: 0n, supplyIndex: 1, borrowIndex: 1 }

async function cometPoints(
  { id, chainId }: CometLendingMarket,
  asset: LendingAsset,
  window: Window,
  context: EndpointContext,
): Promise<MarketPoint[]> {
  const key = { comet: id, asset: asset.id }
  if (asset.side === 'collateral') {
    const states = await readStates(chainId, series.cometCollateralTotals, {}, key, window, context)
    return states.map(({ at, state }) => ({
      ...UNMOVED,
      at,
      block: state.block,
      supplied: BigInt(state.total),
    }))
  }
  const configuration = { of: series.cometConfigurations, isNeeded: true }
  const states = await readStates(chainId, series.cometStates, { configuration }, key, window, context)
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

async function evkPoints(
  market: EvkLendingMarket,
  { side }: LendingAsset,
  window: Window,
  context: EndpointContext,
): Promise<MarketPoint[]> {
  const { vault } = side === 'loan' ? market.lender : market.collateral
  const others = { total: { of: series.evkOwed }, fee: { of: series.evkFees } }
  const states = await readStates(market.chainId, series.evkStates, others, { vault }, window, context)
  return states.map(({ at, state: row, also }) => {
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
    const state = accrueEvk(stored, feeBps, at)
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

async function morphoPoints(
  { id, chainId, params }: MorphoLendingMarket,
  { side }: LendingAsset,
  window: Window,
  context: EndpointContext,
): Promise<MarketPoint[]> {
  const others = { target: { of: series.morphoTargets }, sampled: { of: series.morphoRates } }
  const states = await readStates(chainId, series.morphoStates, others, { market: id }, window, context)
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

async function aavePoints(
  market: AaveLendingMarket,
  asset: LendingAsset,
  window: Window,
  context: EndpointContext,
): Promise<MarketPoint[]> {
  const reserve = market.reserves.find(of => of.asset === asset.info.address)
  if (!reserve) return []
  const [supplyKey, debtKey] = [{ token: reserve.aToken }, { token: reserve.debtToken }]
  const others = {
    supply: { of: series.aaveScaledTotals, key: supplyKey },
    debt: { of: series.aaveScaledTotals, key: debtKey },
    supplyCode: { of: series.aaveRevisions, key: supplyKey },
    debtCode: { of: series.aaveRevisions, key: debtKey },
  }
  const key = { pool: market.root, asset: reserve.asset }
  const states = await readStates(market.chainId, series.aaveIndexes, others, key, window, context)
  return states.map(({ at, state: row, also }) => {
    const stored = {
      liquidityRate: BigInt(row.liquidity_rate),
      variableBorrowRate: BigInt(row.borrow_rate),
      liquidityIndex: BigInt(row.liquidity_index),
      variableBorrowIndex: BigInt(row.borrow_index),
      updatedAt: row.at,
    }
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
