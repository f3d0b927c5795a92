import {
  isDecoupledRevision,
  isDirectedRevision,
  normalizedDebt,
  normalizedIncome,
  owedAt,
  suppliedAt,
} from '../../../abi/aave-v3/math.ts'
import type { Catalogue } from '../../catalogue/catalogue.ts'
import {
  type AaveLendingMarket,
  type AaveReserve,
  fractionOfWad,
  type LendingAsset,
  yearlyOfRay,
} from '../../lending/market.ts'
import type { AaveRow } from '../../lending/queries.ts'

export interface AaveFigures {
  rows: readonly AaveRow[]
  /** Scaled total supply by token. */
  totals: ReadonlyMap<string, bigint>
  /** Of the pool's code, by token. */
  revisions: ReadonlyMap<string, number>
  /** By `source market key`. */
  settings: ReadonlyMap<string, string>
  /** What the pool's oracle says of an asset; undefined where that is not known. */
  priceOf: (pool: string, asset: string) => bigint | undefined
}

export const settingKey = (source: string, market: string, key: string) => `${source} ${market} ${key}`

/** The pools of a chain at `at`; reserves whose asset is not described yet are left out. */
export function aaveMarkets(
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

function reserveOf(row: AaveRow, figures: AaveFigures, at: number): AaveReserve {
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
