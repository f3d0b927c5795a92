import { decimalString } from '../../../amounts.ts'
import type { PricePlan } from '../../../catalogue/prices.ts'
import { planPrice } from '../../../catalogue/prices.ts'
import type { EndpointContext } from '../../../endpoint.ts'
import { defineEndpoint } from '../../../endpoint.ts'
import { NotFoundError } from '../../../errors.ts'
import { limits, pageOfRows } from '../../../paging.ts'
import { legsOf, pricesAt } from '../../../price-history.ts'
import { feedSeries, SECONDS, sharePriceSeries } from '../../../queries/history.ts'
import { ask } from '../../../queries/query.ts'
import { address, network, paging, timestamp } from '../../../schemas/parameters.ts'
import { pageOf } from '../../../schemas/shapes.ts'
import { z } from '../../../schemas/zod.ts'
import { bucketRange, readRange } from '../../../time-range.ts'
import { granularity } from '../../../vault-history.ts'

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
  params: z.object({ network: network(), assetAddress: address() }),
  query,
  response: pageOf(z.strictObject({ timestamp: z.int(), priceInUsd: z.string() })),
  example: { params: { network: '{network}', assetAddress: '{asset}' }, query: { granularity: '1day' } },
  cost: ({ items }) => 1 + items,
  cache: 'moment',
  async handler({ params, query }, context) {
    const { chainId, name } = params.network
    const { catalogue } = context
    const asset = params.assetAddress
    const plan =
      catalogue.asset(chainId, asset)?.plan ??
      planPrice(catalogue.facts, (chain, vault) => catalogue.find(chain, vault)?.state.asset, chainId, asset)
    if (!plan) {
      if (catalogue.asset(chainId, asset)) return { itemsOnPage: 0, nextPage: null, data: [] }
      throw new NotFoundError(
        `There is no asset ${asset} on ${name} that a vault holds or a price is known of.`,
      )
    }
    context.touch(chainId)
    const points = await series(plan, chainId, asset, query, context)
    const prices = await pricesAt(
      plan,
      points.map(({ at }) => at),
      context,
    )
    return pageOfRows(
      points.flatMap(({ bucket }, i) => {
        const price = prices[i]
        return price === undefined ? [] : [{ timestamp: bucket, priceInUsd: decimalString(price) }]
      }),
      query,
    )
  },
})

/** Buckets with something to say: those of the first part of the price that moves. */
async function series(
  plan: PricePlan,
  chainId: number,
  asset: string,
  asked: z.output<typeof query>,
  context: EndpointContext,
): Promise<{ bucket: number; at: number }[]> {
  const range = bucketRange(readRange(asked), asked.granularity)
  const seconds = SECONDS[asked.granularity]
  const [leg] = legsOf(plan)
  const { limit, offset } = limits(asked)
  if (!leg) {
    // A fixed price holds since it was recorded, and has no samples of its own.
    const since = context.catalogue.facts.recordedAt(`asset:${chainId}:${asset}`, 'peg') ?? 0
    const until = context.catalogue.chain(chainId)?.blockTime ?? 0
    const first = Math.max(range.from, Math.ceil(since / seconds) * seconds) + offset * seconds
    const end = Math.min(range.to, until + 1)
    const count = Math.max(0, Math.min(limit, Math.ceil((end - first) / seconds)))
    return Array.from({ length: count }, (_, i) => ({ bucket: first + i * seconds, at: first + i * seconds }))
  }
  const pinned = {
    chain: leg.chainId,
    p: context.catalogue.chain(leg.chainId)?.position ?? 0,
    ...range,
    seconds,
    limit,
    offset,
  }
  return 'feed' in leg
    ? ask(context.deps.clickhouse, feedSeries, { ...pinned, feed: leg.feed }, context.signal)
    : ask(context.deps.clickhouse, sharePriceSeries, { ...pinned, vault: leg.vault }, context.signal)
}
