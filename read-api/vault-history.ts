import { toWhole, usdString } from './amounts.ts'
import { rate } from './catalogue/wire.ts'
import type { EndpointContext } from './endpoint.ts'
import type { FoundVault } from './find-vault.ts'
import { limits, pageOfRows } from './paging.ts'
import { pricesAt } from './price-history.ts'
import type { BucketRow } from './queries/history.ts'
import { APY_INTERVALS, GRANULARITIES, vaultSeriesQueries } from './queries/history.ts'
import { ask } from './queries/query.ts'
import { choice, paging, timestamp } from './schemas/parameters.ts'
import { z } from './schemas/zod.ts'
import { bucketRange, readRange } from './time-range.ts'

export const granularity = choice(GRANULARITIES)
  .optional()
  .transform(value => value ?? '1hour')
  .openapi({ type: 'string', enum: [...GRANULARITIES], default: '1hour' })

export const apyInterval = choice(APY_INTERVALS)
  .optional()
  .transform(value => value ?? '7day')
  .openapi({ type: 'string', enum: [...APY_INTERVALS], default: '7day' })

export const seriesQuery = z.object({
  fromTimestamp: timestamp().optional(),
  toTimestamp: timestamp().optional(),
  granularity,
  apyInterval,
  ...paging({ max: 20_000 }),
})

export const HISTORY_NOTE =
  'Buckets are aligned to epoch 0 and ascending; a bucket has the figures of the first sample in it and is left out where there is none. A window of APY that reaches beyond the first sample begins with it.'

/** A page of a vault's series. `make` turns a row into what goes out. */
export async function vaultSeries<T>(
  { vault, pinned }: FoundVault,
  query: z.output<typeof seriesQuery>,
  context: EndpointContext,
  make: (row: BucketRow) => T,
) {
  const rows = await ask(
    context.deps.clickhouse,
    vaultSeriesQueries[query.granularity][query.apyInterval],
    {
      ...pinned,
      vault: vault.state.address,
      ...bucketRange(readRange(query), query.granularity),
      ...limits(query),
    },
    context.signal,
  )
  const page = pageOfRows(rows, query)
  return { rows: page.data, page: { ...page, data: page.data.map(make) } }
}

export function at(row: BucketRow) {
  return { timestamp: row.bucket, blockNumber: String(row.block_number) }
}

export function apyAt(row: BucketRow) {
  return rate(row.apy)
}

/** TVL of each row at the asset's price of that moment. */
export async function tvlsAt(found: FoundVault, rows: readonly BucketRow[], context: EndpointContext) {
  const { asset } = found.vault
  const prices = await pricesAt(
    asset,
    rows.map(row => row.at),
    context,
  )
  return rows.map((row, i) => {
    const price = prices[i]
    return {
      usd: price === undefined ? '' : usdString(toWhole(BigInt(row.total_assets), asset.decimals) * price),
      native: row.total_assets,
    }
  })
}
