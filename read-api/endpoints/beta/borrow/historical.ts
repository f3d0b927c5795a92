import { rayMul } from '../../../../db/lending/aave-math.ts'
import { cometAmounts } from '../../../../db/lending/comet-math.ts'
import { VIRTUAL_DEPOSIT } from '../../../../db/lending/evk-math.ts'
import { toWhole } from '../../../amounts.ts'
import { defineEndpoint, type EndpointContext } from '../../../endpoint.ts'
import { findMarket, findMarketAsset, marketAssetPath } from '../../../lending/book.ts'
import { cometPoint } from '../../../lending/comet.ts'
import { yearlyOfSecondRay } from '../../../lending/evk.ts'
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
} from '../../../lending/market.ts'
import { limits, pageOfRows } from '../../../paging.ts'
import { pricesAt } from '../../../price-history.ts'
import { cometCollateralSeries, cometSeries } from '../../../queries/comet.ts'
import { evkSeries } from '../../../queries/evk.ts'
import { SECONDS } from '../../../queries/history.ts'
import { aaveSeries, morphoSeries } from '../../../queries/lending.ts'
import { ask } from '../../../queries/query.ts'
import { MarketPoint } from '../../../schemas/borrow.ts'
import { paging, timestamp } from '../../../schemas/parameters.ts'
import { pageOf } from '../../../schemas/shapes.ts'
import { z } from '../../../schemas/zod.ts'
import { bucketRange, readRange } from '../../../time-range.ts'
import { granularity } from '../../../vault-history.ts'

interface Point {
  at: number
  block: number
  supplyRate: number | undefined
  borrowRate: number | undefined
  supplied: bigint
  borrowed: bigint
  supplyIndex: number
  borrowIndex: number
}

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/borrow/markets/historical/{network}/{marketId}/{assetId}',
  summary: 'Rates, totals and indexes of an asset of a market over time',
  description:
    'Buckets are aligned to epoch 0 and ascending; a bucket has the figures after the first update of the market in it, and is left out where there was none. Indexes are what one unit supplied or owed at the beginning has become.',
  params: z.object(marketAssetPath),
  query: z.object({
    fromTimestamp: timestamp().optional(),
    toTimestamp: timestamp().optional(),
    granularity,
    ...paging({ max: 20_000 }),
  }),
  response: pageOf(MarketPoint),
  example: { params: { network: '{network}', marketId: '{market}', assetId: '{marketAsset}' } },
  cost: ({ items }) => 3 + 3 * items,
  cache: 'moment',
  async handler({ params, query }, context) {
    const market = await findMarket(params, context)
    const asset = findMarketAsset(market, params.assetId)
    const window = {
      chain: market.chainId,
      p: context.catalogue.chain(market.chainId)?.position ?? 0,
      seconds: SECONDS[query.granularity],
      ...bucketRange(readRange(query), query.granularity),
      ...limits(query),
    }
    const points = await readPoints(market, asset, window, context)
    const page = pageOfRows(points, query)
    const prices = await pricesAt(
      asset.info,
      page.data.map(({ at }) => at),
      context,
    )
    return {
      ...page,
      data: page.data.map((point, i) => {
        const amount = (native: bigint) => {
          const price = prices[i]
          return {
            native: native.toString(),
            usd: price === undefined ? null : toWhole(native, asset.info.decimals) * price,
          }
        }
        return {
          timestamp: point.at,
          blockNumber: String(point.block),
          supplyRate: point.supplyRate ?? null,
          borrowRate: point.borrowRate ?? null,
          utilizationRate: ratio(point.borrowed, point.supplied),
          totalSupplied: amount(point.supplied),
          totalBorrowed: amount(point.borrowed),
          supplyIndex: point.supplyIndex,
          borrowIndex: point.borrowIndex,
        }
      }),
    }
  },
})

type Window = Record<string, number>

function readPoints(
  market: LendingMarket,
  asset: LendingAsset,
  window: Window,
  context: EndpointContext,
): Promise<Point[]> {
  if (market.protocol === 'aave-v3') return aavePoints(market, asset, window, context)
  if (market.protocol === 'compound-v3') return cometPoints(market, asset, window, context)
  if (market.protocol === 'euler-v2') return evkPoints(market, asset, window, context)
  return morphoPoints(market, asset, window, context)
}

async function cometPoints(
  { id }: CometLendingMarket,
  asset: LendingAsset,
  window: Window,
  { deps, signal }: EndpointContext,
): Promise<Point[]> {
  if (asset.side === 'collateral') {
    const of = { ...window, comet: id, asset: asset.id }
    const rows = await ask(deps.clickhouse, cometCollateralSeries, of, signal)
    return rows.map(row => ({
      at: row.bucket,
      block: row.block_number,
      supplyRate: 0,
      borrowRate: 0,
      supplied: BigInt(row.total),
      borrowed: 0n,
      supplyIndex: 1,
      borrowIndex: 1,
    }))
  }
  const rows = await ask(deps.clickhouse, cometSeries, { ...window, comet: id }, signal)
  return rows.map(row => {
    const { totals, supplyRate, borrowRate } = cometPoint(row)
    return {
      at: row.bucket,
      block: row.block_number,
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
  { side, feeRate }: LendingAsset,
  window: Window,
  { deps, signal }: EndpointContext,
): Promise<Point[]> {
  const { vault } = side === 'loan' ? market.lender : market.collateral
  const rows = await ask(deps.clickhouse, evkSeries, { ...window, vault }, signal)
  return rows.map(row => {
    const borrowed = BigInt(row.total_borrows)
    const supplied = BigInt(row.cash) + borrowed
    const borrowRate = yearlyOfSecondRay(BigInt(row.interest_rate))
    return {
      at: row.bucket,
      block: row.block_number,
      supplied,
      borrowed,
      borrowRate,
      supplyRate: borrowRate * ratio(borrowed, supplied) * (1 - feeRate),
      supplyIndex: ratio(supplied + VIRTUAL_DEPOSIT, BigInt(row.total_shares) + VIRTUAL_DEPOSIT),
      borrowIndex: toWhole(BigInt(row.accumulator), 27),
    }
  })
}

async function morphoPoints(
  market: MorphoLendingMarket,
  { side }: LendingAsset,
  window: Record<string, number>,
  { deps, signal }: EndpointContext,
): Promise<Point[]> {
  const rows = await ask(deps.clickhouse, morphoSeries, { ...window, market: market.id }, signal)
  return rows.map(row => {
    const at = { at: row.bucket, block: row.block_number }
    if (side === 'collateral') {
      const supplied = BigInt(row.collateral)
      return { ...at, supplyRate: 0, borrowRate: 0, supplied, borrowed: 0n, supplyIndex: 1, borrowIndex: 1 }
    }
    const supplied = BigInt(row.supply_assets)
    const borrowed = BigInt(row.borrow_assets)
    const borrowRate = row.borrow_rate === null ? undefined : yearlyOfWad(BigInt(row.borrow_rate))
    // A share begins as a millionth of an asset unit (SharesMathLib's virtual amounts).
    const index = (assets: bigint, shares: bigint) => ratio((assets + 1n) * 1_000_000n, shares + 1_000_000n)
    return {
      ...at,
      supplied,
      borrowed,
      borrowRate,
      supplyRate:
        borrowRate === undefined
          ? undefined
          : borrowRate * ratio(borrowed, supplied) * (1 - fractionOfWad(BigInt(row.fee))),
      supplyIndex: index(supplied, BigInt(row.supply_shares)),
      borrowIndex: index(borrowed, BigInt(row.borrow_shares)),
    }
  })
}

async function aavePoints(
  market: AaveLendingMarket,
  asset: LendingAsset,
  window: Record<string, number>,
  { deps, signal }: EndpointContext,
): Promise<Point[]> {
  const reserve = market.reserves.find(of => of.asset === asset.info.address)
  if (!reserve) return []
  const rows = await ask(
    deps.clickhouse,
    aaveSeries,
    {
      ...window,
      pool: market.root,
      asset: reserve.asset,
      a_token: reserve.aToken,
      debt_token: reserve.debtToken,
    },
    signal,
  )
  return rows.map(row => ({
    at: row.bucket,
    block: row.block_number,
    supplyRate: yearlyOfRay(BigInt(row.liquidity_rate)),
    borrowRate: yearlyOfRay(BigInt(row.borrow_rate)),
    supplied: rayMul(BigInt(row.supplied), BigInt(row.liquidity_index)),
    borrowed: rayMul(BigInt(row.borrowed), BigInt(row.borrow_index)),
    supplyIndex: toWhole(BigInt(row.liquidity_index), 27),
    borrowIndex: toWhole(BigInt(row.borrow_index), 27),
  }))
}
