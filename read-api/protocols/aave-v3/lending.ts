import {
  isDecoupledRevision,
  isDirectedRevision,
  normalizedDebt,
  normalizedIncome,
  owedAt,
  suppliedAt,
} from '../../../abi/aave-v3/math.ts'
import type { Catalogue } from '../../catalogue/catalogue.ts'
import type { Reading } from '../../catalogue/reading.ts'
import { fractionOfWad, type LendingAsset, yearlyOfRay } from '../../lending/market.ts'
import { oraclePriceOf } from '../../lending/oracle-price.ts'
import { feedAnswers, sampledPrices } from '../../lending/queries.ts'
import { askKept } from '../../moment/kept.ts'
import type { AaveLendingMarket, AaveReserve } from './market.ts'
import * as queries from './queries.ts'

interface AaveFigures {
  rows: readonly queries.AaveRow[]
  /** Scaled total supply by token. */
  totals: ReadonlyMap<string, bigint>
  /** Of the pool's code, by token. */
  revisions: ReadonlyMap<string, number>
  /** By `source market key`. */
  settings: ReadonlyMap<string, string>
  /** What the pool's oracle says of an asset; undefined where that is not known. */
  priceOf: (pool: string, asset: string) => bigint | undefined
}

const settingKey = (source: string, market: string, key: string) => `${source} ${market} ${key}`

/** The pools of a chain as of the catalogue's moment; reserves whose asset is not described yet are left out. */
export async function aaveMarkets(reading: Reading, chain: number): Promise<AaveLendingMarket[]> {
  const { catalogue } = reading
  const [rows, totals, settings, samples] = await Promise.all([
    askKept(reading, queries.aaveReserves, chain, 'lending'),
    askKept(reading, queries.aaveTotals, chain, 'lending'),
    askKept(reading, queries.aaveSettings, chain, 'lending'),
    askKept(reading, sampledPrices, chain, 'lending'),
  ])
  const assets = new Set(rows.map(({ asset }) => asset))
  const sources = new Map<string, Set<string>>()
  for (const { market, key, value } of settings) {
    if (key !== 'oracle' || !assets.has(market)) continue
    sources.set(market, (sources.get(market) ?? new Set()).add(value))
  }
  const sampled = new Map(samples.map(of => [`${of.contract} ${of.asset}`, of]))
  const pools = new Set(rows.map(({ pool }) => pool))
  const asked = samples.flatMap(({ contract, oracle }) => (pools.has(contract) ? [oracle] : []))
  const feeds = [...new Set([...asked, ...[...sources.values()].flatMap(of => [...of])])]
  const answers = new Map(
    (feeds.length > 0 ? await askKept(reading, feedAnswers, chain, 'lending', { feeds }) : []).map(of => [
      of.feed,
      of,
    ]),
  )
  const figures = {
    rows,
    totals: new Map(totals.map(({ token, scaled }) => [token, BigInt(scaled)])),
    revisions: new Map(totals.map(({ token, revision }) => [token, revision])),
    settings: new Map(
      settings.map(({ source, market, key, value }) => [settingKey(source, market, key), value]),
    ),
    priceOf: (pool: string, asset: string) => {
      const sample = sampled.get(`${pool} ${asset}`)
      // Never asked: what the oracles of the chain were told to ask, where they agree.
      const [only, ...others] = sources.get(asset) ?? []
      return oraclePriceOf(sample, answers, sample?.oracle ?? (others.length > 0 ? undefined : only))
    },
  }
  return poolsOf(catalogue, chain, figures, catalogue.chain(chain, 'lending')?.blockTime ?? 0)
}

function poolsOf(
  catalogue: Catalogue,
  chainId: number,
  figures: AaveFigures,
  at: number,
): AaveLendingMarket[] {
  const pools = new Map<string, { assets: LendingAsset[]; reserves: AaveReserve[] }>()
  for (const row of figures.rows) {
    const info = catalogue.asset(chainId, row.asset)
    const pool = pools.get(row.pool) ?? { assets: [], reserves: [] }
    pools.set(row.pool, pool)
    const reserve = reserveOf(row, figures, at)
    pool.reserves.push(reserve)
    if (!info) continue
    const number = (key: string) => Number(reserve.setting(key) ?? 0)
    const isOn = (key: string) => reserve.setting(key) === '1'
    const cap = (key: string) => {
      const whole = BigInt(reserve.setting(key) ?? '0')
      return whole === 0n ? undefined : whole * 10n ** BigInt(row.decimals)
    }
    const supplied = suppliedAt(figures.totals.get(row.a_token) ?? 0n, reserve.income, reserve.isDirected)
    const borrowed = owedAt(figures.totals.get(row.debt_token) ?? 0n, reserve.debt, reserve.isDirected)
    const isClosed = reserve.setting('active') === '0' || isOn('frozen') || isOn('paused')
    const bonus = number('liquidationBonusBps')
    pool.assets.push({
      id: row.asset,
      info,
      side: 'loan',
      eventMarket: row.asset,
      isCollateralEnabled: reserve.liquidationThresholdBps > 0n,
      isBorrowEnabled: isOn('borrowing') && !isClosed,
      supplyRate: yearlyOfRay(reserve.indexes.liquidityRate),
      borrowRate: yearlyOfRay(reserve.indexes.variableBorrowRate),
      supplied,
      borrowed,
      // Where no state is to be had, what the logs say: less what the treasury is yet to be given.
      liquidity: BigInt(row.available ?? (supplied > borrowed ? supplied - borrowed : 0n)),
      feeRate: fractionOfWad(BigInt(reserve.setting('reserveFeeWad') ?? '0')),
      borrowCap: cap('borrowCap'),
      supplyCap: cap('supplyCap'),
      risk: {
        maxLtv: Number(reserve.ltvBps) / 10_000,
        liquidationThreshold: Number(reserve.liquidationThresholdBps) / 10_000,
        liquidationPenalty: bonus > 10_000 ? (bonus - 10_000) / 10_000 : 0,
      },
      pairs: undefined,
    })
  }
  return [...pools].map(([pool, { assets, reserves }]) => ({
    chainId,
    id: pool,
    name: 'Aave v3',
    protocol: 'aave-v3',
    root: pool,
    assets,
    reserves,
  }))
}

function reserveOf(row: queries.AaveRow, figures: AaveFigures, at: number): AaveReserve {
  const indexes = {
    liquidityRate: BigInt(row.liquidity_rate),
    variableBorrowRate: BigInt(row.borrow_rate),
    liquidityIndex: BigInt(row.liquidity_index),
    variableBorrowIndex: BigInt(row.borrow_index),
    updatedAt: row.updated_at,
  }
  const setting = (key: string, market = row.asset) =>
    figures.settings.get(settingKey(row.configurator, market, key))
  // The code of both tokens is of one version; of one of them it may not have been asked yet.
  const revision = Math.max(...[row.a_token, row.debt_token].map(token => figures.revisions.get(token) ?? 0))
  return {
    asset: row.asset,
    aToken: row.a_token,
    debtToken: row.debt_token,
    decimals: row.decimals,
    indexes,
    isDirected: isDirectedRevision(revision),
    isDecoupled: isDecoupledRevision(revision),
    income: normalizedIncome(indexes, at),
    debt: normalizedDebt(indexes, at),
    ltvBps: BigInt(setting('ltvBps') ?? '0'),
    liquidationThresholdBps: BigInt(setting('liquidationThresholdBps') ?? '0'),
    eModeCategory: Number(setting('eModeCategory') ?? 0),
    oraclePrice: figures.priceOf(row.pool, row.asset),
    setting,
  }
}
