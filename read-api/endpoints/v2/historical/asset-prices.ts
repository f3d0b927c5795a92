import { legsOf, type PlanPeriod, type PricePlan } from '../../../catalogue/prices.ts'
import { decimalString } from '../../../http/amounts.ts'
import type { EndpointContext } from '../../../http/endpoint.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { NotFoundError } from '../../../http/errors.ts'
import { limits, pageOfRows } from '../../../http/paging.ts'
import { address, network, paging, timestamp } from '../../../http/parameters.ts'
import { pageOf } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { ask } from '../../../moment/query.ts'
import { bucketRange, LAST_SECOND, readRange } from '../../../moment/time-range.ts'
import { granularity } from '../../../vaults/history.ts'
import { feedSeries, SECONDS, sharePriceSeries } from '../../../vaults/history-queries.ts'
import { plansOver, pricesAt } from '../../../vaults/price-history.ts'

/** Buckets read of a period where several are put together: an hourly century. */
const MOST = 1_000_000

const query = z.object({
  fromTimestamp: timestamp().optional(),
  toTimestamp: timestamp().optional(),
  granularity,
  ...paging({ max: 20_000 }),
})

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/historical/asset-prices/{network}/{assetAddress}',
  summary: 'The USD price of an asset over time',
  description:
    'Buckets are aligned to epoch 0 and ascending; each has the first price in it. The share of a vault has the price of its asset times its share price.',
  params: z.object({ network: network(), assetAddress: address('The asset.') }),
  query,
  response: pageOf(z.strictObject({ timestamp: z.int(), priceInUsd: z.string() })),
  table: 'data',
  example: { params: { network: '{network}', assetAddress: '{asset}' }, query: { granularity: '1day' } },
  cost: ({ items }) => 1 + items,
  cache: 'moment',
  async handler({ params, query }, context) {
    const { chainId, name } = params.network
    const { catalogue } = context
    const asset = params.assetAddress
    const range = bucketRange(readRange(query, catalogue.moment), query.granularity)
    const periods = plansOver(catalogue, { chainId, address: asset }, { from: range.from, to: range.to - 1 })
    if (periods.every(({ plan }) => !plan)) {
      if (catalogue.asset(chainId, asset)) return { itemsOnPage: 0, nextPage: null, data: [] }
      throw new NotFoundError(
        `There is no asset ${asset} on ${name} that a vault holds or a price is known of.`,
      )
    }
    context.touch(chainId)
    const points = await seriesOver(periods, chainId, asset, range, query, context)
    const page = pageOfRows(points, query)
    const prices = await pricesAt(
      { chainId, address: asset },
      page.data.map(({ at }) => at),
      context,
    )
    const data = page.data.flatMap(({ bucket }, i) => {
      const price = prices[i]
      return price === undefined ? [] : [{ timestamp: bucket, priceInUsd: decimalString(price) }]
    })
    return { ...page, itemsOnPage: data.length, data }
  },
})

interface Bucket {
  bucket: number
  at: number
}

interface Window {
  from: number
  to: number
  limit: number
  offset: number
}

/** Buckets of one page, and one more. Where the price was made in several ways, each bucket is of the way it began in. */
async function seriesOver(
  periods: readonly PlanPeriod[],
  chainId: number,
  asset: string,
  range: { from: number; to: number },
  asked: z.output<typeof query>,
  context: EndpointContext,
): Promise<Bucket[]> {
  const { limit, offset } = limits(asked)
  const [only] = periods
  if (periods.length === 1 && only?.plan)
    return series(only.plan, chainId, asset, { ...range, limit, offset }, asked, context)
  const parts = await Promise.all(
    periods.map(async ({ since, until = range.to, plan }) =>
      plan
        ? series(plan, chainId, asset, { from: since, to: until, limit: MOST, offset: 0 }, asked, context)
        : [],
    ),
  )
  const buckets = new Map<number, Bucket>()
  for (const point of parts.flat()) if (!buckets.has(point.bucket)) buckets.set(point.bucket, point)
  return [...buckets.values()].slice(offset, offset + limit)
}

/** Buckets with something to say: those of the first part of the price that moves, since all others had a value. */
async function series(
  plan: PricePlan,
  chainId: number,
  asset: string,
  { from, to, limit, offset }: Window,
  asked: z.output<typeof query>,
  context: EndpointContext,
): Promise<Bucket[]> {
  const seconds = SECONDS[asked.granularity]
  const [leg, ...others] = legsOf(plan)
  if (!leg) {
    // A fixed price holds since it was recorded, and has no samples of its own.
    const since = context.catalogue.facts.quoteAt(chainId, asset, from).quote?.since ?? 0
    const until = context.catalogue.chain(chainId)?.blockTime ?? 0
    const first = Math.max(Math.ceil(from / seconds), Math.ceil(since / seconds)) * seconds + offset * seconds
    const end = Math.min(to, until + 1)
    const count = Math.max(0, Math.min(limit, Math.ceil((end - first) / seconds)))
    return Array.from({ length: count }, (_, i) => ({ bucket: first + i * seconds, at: first + i * seconds }))
  }
  const firsts = await Promise.all(
    others.map(async other => {
      const whole = { from: 0, to: LAST_SECOND, seconds: LAST_SECOND, limit: 1, offset: 0 }
      return (await legSeries(other, whole, context))[0]?.at
    }),
  )
  const since = Math.max(from, ...firsts.map(at => at ?? to))
  return legSeries(leg, { from: since, to, seconds, limit, offset }, context)
}

function legSeries(
  leg: ReturnType<typeof legsOf>[number],
  window: Window & { seconds: number },
  { deps, catalogue, signal, touch }: EndpointContext,
) {
  touch(leg.chainId)
  const pinned = { chain: leg.chainId, p: catalogue.chain(leg.chainId)?.position ?? 0, ...window }
  return 'feed' in leg
    ? ask(deps.clickhouse, feedSeries, { ...pinned, feed: leg.feed }, signal)
    : ask(deps.clickhouse, sharePriceSeries, { ...pinned, vault: leg.vault }, signal)
}
