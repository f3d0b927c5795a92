import type { FoundVault } from '../catalogue/find-vault.ts'
import { type RateWire, rate } from '../catalogue/wire.ts'
import { toWhole, usdOf, usdString } from '../http/amounts.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { limits, pageOfRows } from '../http/paging.ts'
import { choice, paging, timestamp } from '../http/parameters.ts'
import { z } from '../http/zod.ts'
import { ask } from '../moment/query.ts'
import { bucketRange, readRange } from '../moment/time-range.ts'
import type { BucketRow } from './history-queries.ts'
import { APY_INTERVALS, GRANULARITIES, SECONDS, vaultSeriesQueries } from './history-queries.ts'
import { everPaid, pastRewards } from './past-rewards.ts'
import { pricesAt, readPrices } from './price-history.ts'

export const granularity = choice(GRANULARITIES)
  .optional()
  .transform(value => value ?? '1hour')
  .openapi({ type: 'string', enum: [...GRANULARITIES], default: '1hour', description: 'Length of a bucket.' })

export const apyInterval = choice(APY_INTERVALS)
  .optional()
  .transform(value => value ?? '7day')
  .openapi({
    type: 'string',
    enum: [...APY_INTERVALS],
    default: '7day',
    description: 'The window that APY is reckoned over.',
  })

export const seriesQuery = z.object({
  fromTimestamp: timestamp().optional(),
  toTimestamp: timestamp().optional(),
  granularity,
  apyInterval,
  ...paging({ max: 20_000 }),
})

export const HISTORY_NOTE =
  'Buckets are aligned to epoch 0 and ascending; a bucket has the figures of the first sample in it and is left out where there is none, where an APY is asked for and its window has no value (no sample near its beginning), and where a share price is and there are no shares. reward is what the rewards of then yielded on the TVL of then.'

/** What a row of a series has to have. */
interface Needs {
  price?: boolean
  apy?: boolean
}

type SeriesQuery = z.output<typeof seriesQuery>

/** A page of a vault's series. `make` turns a row into what goes out. */
export async function vaultSeries<T>(
  found: FoundVault,
  query: SeriesQuery,
  context: EndpointContext,
  needs: Needs,
  make: (row: BucketRow) => T,
) {
  const page = pageOfRows(await readRows(found, query, needs, context), query)
  return { ...page, data: page.data.map(make) }
}

/** A page of a vault's APY, with what rewards yielded then. */
export async function apySeries<T>(
  found: FoundVault,
  query: SeriesQuery,
  context: EndpointContext,
  make: (row: BucketRow, apy: RateWire) => T,
) {
  return everPaid(found.vault, context.catalogue)
    ? valuedSeries(found, query, context, { apy: true }, (row, _tvl, apy) => make(row, apy))
    : vaultSeries(found, query, context, { apy: true }, row => make(row, rate(row.apy)))
}

/** The same, with the TVL of each row at the asset's price of that moment as well. */
export async function valuedSeries<T>(
  found: FoundVault,
  query: SeriesQuery,
  context: EndpointContext,
  needs: Needs,
  make: (row: BucketRow, tvl: { usd: string; native: string }, apy: RateWire) => T,
) {
  const { asset } = found.vault
  const expected = whereRowsLie(found, query, context)
  const [rows, pricesThere] = await Promise.all([
    readRows(found, query, needs, context),
    expected.from <= expected.to ? readPrices(asset, expected, context) : undefined,
  ])
  const page = pageOfRows(rows, query)
  const times = page.data.map(row => row.at)
  const isThere = (times[0] ?? 0) >= expected.from && (times.at(-1) ?? 0) <= expected.to
  const prices = pricesThere && isThere ? pricesThere(times) : await pricesAt(asset, times, context)
  const moments = page.data.map((row, i) => ({
    at: row.at,
    tvlUsd: usdOf(BigInt(row.total_assets), asset.decimals, prices[i]),
  }))
  const rewards = await pastRewards(found, moments, context)
  return {
    ...page,
    data: page.data.map((row, i) =>
      make(
        row,
        { usd: usdString(moments[i]?.tvlUsd), native: row.total_assets },
        rate(row.apy, rewards[i]?.[query.apyInterval]),
      ),
    ),
  }
}

/** The share price of a row as the wire says it: convertToAssets of one whole share. */
export function sharePriceOf({ vault }: FoundVault, { share_price_raw }: BucketRow): number {
  return toWhole(BigInt(share_price_raw), vault.asset.decimals)
}

function readRows({ vault, pinned }: FoundVault, query: SeriesQuery, needs: Needs, context: EndpointContext) {
  return ask(
    context.deps.clickhouse,
    vaultSeriesQueries[query.granularity][query.apyInterval],
    {
      ...pinned,
      vault: vault.state.address,
      needs_price: Number(needs.price ?? false),
      needs_apy: Number(needs.apy ?? false),
      ...bucketRange(readRange(query, context.catalogue.moment), query.granularity),
      ...limits(query),
    },
    context.signal,
  )
}

/** Where the page's rows lie (unix seconds, inclusive) if hardly a bucket is empty: prices need not wait for them. */
function whereRowsLie({ vault, chain }: FoundVault, query: SeriesQuery, { catalogue }: EndpointContext) {
  const seconds = SECONDS[query.granularity]
  const range = bucketRange(readRange(query, catalogue.moment), query.granularity)
  const first = Math.max(range.from, Math.floor(vault.state.seenAt / seconds) * seconds)
  const { offset, limit } = limits(query)
  const from = first + offset * seconds
  return { from, to: Math.min(range.to, chain.blockTime, from + (limit + SPARE_BUCKETS) * seconds) }
}

/** Empty buckets that a page may have before its prices are read once more. */
const SPARE_BUCKETS = 48

export function at(row: BucketRow) {
  return { timestamp: row.bucket, blockNumber: String(row.block_number) }
}
