import { defineEndpoint } from '../../../http/endpoint.ts'
import { limits, pageOfRows } from '../../../http/paging.ts'
import { paging, timestamp } from '../../../http/parameters.ts'
import { pageOf } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { findMarket, findMarketAsset, marketAssetPath } from '../../../lending/book.ts'
import { ratio } from '../../../lending/market.ts'
import { MarketPoint } from '../../../lending/schemas.ts'
import { amountOf } from '../../../lending/wire.ts'
import { familyOf } from '../../../load-protocols.ts'
import { bucketRange, readRange } from '../../../moment/time-range.ts'
import { granularity } from '../../../vaults/history.ts'
import { SECONDS } from '../../../vaults/history-queries.ts'
import { pricesAt } from '../../../vaults/price-history.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/borrow/markets/historical/{network}/{marketId}/{assetId}',
  summary: 'Rates, totals and indexes of an asset of a market over time',
  description:
    'Buckets are aligned to epoch 0 and ascending, without a gap from the first that began when there was a market: each has the figures of its beginning, with the interest of the time since the last update, whose block is named. USD is left out where no price was known. Indexes are what one unit supplied or owed at the beginning has become.',
  params: z.object(marketAssetPath),
  query: z.object({
    fromTimestamp: timestamp().optional(),
    toTimestamp: timestamp().optional(),
    granularity,
    ...paging({ max: 20_000 }),
  }),
  response: pageOf(MarketPoint),
  table: 'data',
  example: { params: { network: '{network}', marketId: '{market}', assetId: '{marketAsset}' } },
  cost: ({ items }) => 3 + 3 * items,
  cache: 'moment',
  face: 'lending',
  async handler({ params, query }, context) {
    const market = await findMarket(params, context)
    const asset = findMarketAsset(market, params.assetId)
    const window = {
      seconds: SECONDS[query.granularity],
      ...bucketRange(readRange(query, context.catalogue.moment), query.granularity),
      ...limits(query),
    }
    const points = await familyOf(market).history(market, asset, window, context)
    const page = pageOfRows(points, query)
    const prices = await pricesAt(
      asset.info,
      page.data.map(({ at }) => at),
      context,
    )
    return {
      ...page,
      data: page.data.map((point, i) => {
        const amount = (native: bigint) => amountOf(native, asset.info, prices[i])
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
