import type { Table } from '../../db/clickhouse/rows.ts'
import { DAY, HOUR, WEEK } from '../../db/units.ts'
import { columns, defineQuery, rowOf, uint, z } from '../moment/query.ts'
import { statesAtTimes } from '../moment/states-at.ts'
import { VISIBLE_ON_CHAIN } from '../moment/visible.ts'

/** Series of one vault or feed. `{from}` is inclusive and `{to}` exclusive, unix seconds, except in windows. */

const bucketRow = z.object({
  bucket: uint,
  at: z.number(),
  block_number: uint,
  total_assets: z.string(),
  /** Asset base units per whole share, as the contract said; of no meaning where there was no share. */
  share_price_raw: z.string(),
  apy: z.number().nullable(),
})
export type BucketRow = z.output<typeof bucketRow>

const APY_COLUMNS = {
  '1day': 'apy_1d',
  '7day': 'apy_7d',
  '30day': 'apy_30d',
} as const
export type ApyInterval = keyof typeof APY_COLUMNS
export const APY_INTERVALS = ['1day', '7day', '30day'] as const
export const GRANULARITIES = ['1hour', '1day', '1week'] as const
export type Granularity = (typeof GRANULARITIES)[number]
export const SECONDS: Record<Granularity, number> = { '1hour': HOUR, '1day': DAY, '1week': WEEK }

/** Where buckets of a vault are made from, when such a row begins, and a time as its column has it. */
const HOURS = { table: 'vault_hourly', begins: 'hour', as: (time: string) => time }
const DAYS = { table: 'vault_daily', begins: 'day', as: (time: string) => `toDate(${time})` }

/**
 * One row per bucket of a vault, ascending: the first sample in it. One that the vault did not answer is none, nor is one
 * without share price or APY where {needs_price} or {needs_apy} is 1. Weeks are aligned to epoch 0, a Thursday, and so open
 * with a day.
 */
function vaultSeries(granularity: Granularity, interval: ApyInterval) {
  const seconds = SECONDS[granularity]
  const { table, begins, as } = granularity === '1hour' ? HOURS : DAYS
  return defineQuery({
    name: `vault_series_${granularity}_${interval}`,
    sql: `SELECT intDiv(toUnixTimestamp(toDateTime(${begins}, 'UTC')), ${seconds}) * ${seconds} AS bucket,
        toUnixTimestamp(timestamp) AS at, block_number,
        toString(assumeNotNull(series.total_assets)) AS total_assets,
        toString(assumeNotNull(series.share_price_raw)) AS share_price_raw,
        ${APY_COLUMNS[interval]} AS apy
      FROM ${table} AS series
      WHERE ${VISIBLE_ON_CHAIN} AND vault = {vault:String}
        AND ${begins} >= ${as("toDateTime({from:UInt32}, 'UTC')")} AND ${begins} < ${as("toDateTime({to:UInt32}, 'UTC')")}
        AND series.total_assets IS NOT NULL AND series.share_price_raw IS NOT NULL
        AND ({needs_price:UInt8} = 0 OR series.share_price IS NOT NULL)
        AND ({needs_apy:UInt8} = 0 OR ${APY_COLUMNS[interval]} IS NOT NULL)
      ORDER BY ${granularity === '1week' ? 'bucket' : begins}, position
      LIMIT 1 BY bucket
      LIMIT {limit:UInt32} OFFSET {offset:UInt64}`,
    row: bucketRow,
  })
}

export const vaultSeriesQueries = Object.fromEntries(
  GRANULARITIES.map(granularity => [
    granularity,
    Object.fromEntries(APY_INTERVALS.map(interval => [interval, vaultSeries(granularity, interval)])),
  ]),
) as Record<Granularity, Record<ApyInterval, ReturnType<typeof vaultSeries>>>

const pointRow = z.object({ at: z.number(), value: z.number() })

/** Answers of a feed from {from} to {to}, ascending. */
export const feedWindow = defineQuery({
  name: 'feed_window',
  sql: `SELECT toUnixTimestamp(timestamp) AS at, argMax(price, position) AS value
    FROM feed_price
    WHERE ${VISIBLE_ON_CHAIN} AND feed = {feed:String}
      AND timestamp >= toDateTime({from:UInt32}, 'UTC') AND timestamp <= toDateTime({to:UInt32}, 'UTC')
    GROUP BY timestamp ORDER BY at`,
  row: pointRow,
})

/** Share prices of a vault in a window and the last one before it, ascending. */
export const sharePriceWindow = defineQuery({
  name: 'share_price_window',
  sql: `SELECT toUnixTimestamp(timestamp) AS at, assumeNotNull(argMax(share_price, position)) AS value
    FROM vault_sample
    WHERE ${VISIBLE_ON_CHAIN} AND vault = {vault:String} AND share_price IS NOT NULL
      AND timestamp <= toDateTime({to:UInt32}, 'UTC')
      AND timestamp >= ifNull((
        SELECT timestamp FROM vault_sample
        WHERE ${VISIBLE_ON_CHAIN} AND vault = {vault:String} AND timestamp <= toDateTime({from:UInt32}, 'UTC')
          AND share_price IS NOT NULL
        ORDER BY timestamp DESC LIMIT 1), toDateTime(0, 'UTC'))
    GROUP BY timestamp ORDER BY at`,
  row: pointRow,
})

/** Answers of a feed, and share prices of a vault, at or before moments. */
export const feedAtTimes = statesAtTimes({
  name: 'feed_price',
  key: 'feed = {feed:String}',
  columns: columns('feed_price', [], { value: 'price' }),
})
export const sharePriceAtTimes = statesAtTimes({
  name: 'share_price',
  key: 'vault = {vault:String} AND share_price IS NOT NULL',
  columns: columns('vault_sample', [], { value: 'share_price' }),
})

const priceRow = z.object({ bucket: uint, at: z.number(), value: z.number() })

/** The first answer of a feed in each bucket of {seconds}. */
export const feedSeries = defineQuery({
  name: 'feed_series',
  sql: `SELECT intDiv(toUnixTimestamp(timestamp), {seconds:UInt32}) * {seconds:UInt32} AS bucket,
      min(toUnixTimestamp(timestamp)) AS at, argMin(price, (timestamp, position)) AS value
    FROM feed_price
    WHERE ${VISIBLE_ON_CHAIN} AND feed = {feed:String}
      AND timestamp >= toDateTime({from:UInt32}, 'UTC') AND timestamp < toDateTime({to:UInt32}, 'UTC')
    GROUP BY bucket ORDER BY bucket LIMIT {limit:UInt32} OFFSET {offset:UInt64}`,
  row: priceRow,
})

/** The first share price of a vault in each bucket of {seconds}. */
export const sharePriceSeries = defineQuery({
  name: 'share_price_series',
  sql: `SELECT intDiv(toUnixTimestamp(hour), {seconds:UInt32}) * {seconds:UInt32} AS bucket,
      min(toUnixTimestamp(timestamp)) AS at, assumeNotNull(argMin(share_price, (timestamp, position))) AS value
    FROM vault_hourly
    WHERE ${VISIBLE_ON_CHAIN} AND vault = {vault:String} AND share_price IS NOT NULL
      AND hour >= toStartOfHour(toDateTime({from:UInt32}, 'UTC')) AND hour < toDateTime({to:UInt32}, 'UTC')
      AND timestamp >= toDateTime({from:UInt32}, 'UTC') AND timestamp < toDateTime({to:UInt32}, 'UTC')
    GROUP BY bucket ORDER BY bucket LIMIT {limit:UInt32} OFFSET {offset:UInt64}`,
  row: priceRow,
})

const day = columns(
  'daily_flow',
  [
    'position',
    'total_deposits',
    'total_redemptions',
    'deposit_count',
    'redemption_count',
    'unique_depositors',
    'unique_redeemers',
  ],
  { date: 'day' },
)
const dayRow = z.object(day.row)

const days = (table: Table, visible: string) => `SELECT ${day.select()} FROM ${table}
  WHERE ${visible} AND vault = {vault:String}
    AND day >= toDate(toDateTime({from:UInt32}, 'UTC')) AND day < toDate(toDateTime({to:UInt32}, 'UTC'))
  ORDER BY day, position DESC LIMIT 1 BY day`

/** The last running figure of each day. */
export const dailyFlows = defineQuery({
  name: 'daily_flows',
  sql: days('daily_flow', VISIBLE_ON_CHAIN),
  row: dayRow,
})

/** The same as it is now: of the moment asked for where no row's position is beyond it. */
export const newestDailyFlows = defineQuery({
  name: 'newest_daily_flows',
  sql: days('daily_flow_head', 'chain_id = {chain:UInt32}'),
  row: dayRow,
})

export const firstFlowDay = defineQuery({
  name: 'first_flow_day',
  sql: `SELECT toUnixTimestamp(toDateTime(day, 'UTC')) AS begins FROM daily_flow
    WHERE ${VISIBLE_ON_CHAIN} AND vault = {vault:String} ORDER BY day LIMIT 1`,
  row: z.object({ begins: z.number() }),
})

/** Midnight UTC at or after a time of unix seconds. */
const NEXT_DAY = (start: string) => `toDateTime(toUInt32(intDiv(${start} + 86399, 86400) * 86400), 'UTC')`

/**
 * The largest fall of vaults' share prices from each of the {starts} on, as a fraction: of the day it begins in the
 * samples from there on, then each day's own fall and extremes, joined in order of time. {days}: the days they are in, {since}: the earliest.
 * Vaults without a price in a window are left out.
 */
export const drawdowns = defineQuery({
  name: 'drawdowns',
  sql: `SELECT vault, start, arrayFold(
      (peak, next) -> (greatest(peak.1, next.3), greatest(peak.2, next.5, if(peak.1 > 0, 1 - next.4 / peak.1, toFloat64(0)))),
      arraySort(groupArray((at, place, highest, lowest, fall))), (toFloat64(0), toFloat64(0))).2 AS drawdown
    FROM (
      SELECT vault, start, toUnixTimestamp(timestamp) AS at, position AS place, assumeNotNull(share_price) AS highest,
        assumeNotNull(share_price) AS lowest, toFloat64(0) AS fall
      FROM vault_sample ARRAY JOIN arrayDistinct({starts:Array(UInt32)}) AS start
      WHERE ${VISIBLE_ON_CHAIN} AND vault IN {vaults:Array(String)} AND share_price IS NOT NULL
        AND toDate(timestamp) IN {days:Array(Date)} AND timestamp >= toDateTime(start, 'UTC') AND timestamp < ${NEXT_DAY('start')}
      UNION ALL
      SELECT vault, start, toUnixTimestamp(toDateTime(day, 'UTC')) AS at, toUInt64(0), last.1, last.2, last.3
      FROM (
        SELECT vault, day, argMax((max_price, min_price, max_drawdown), position) AS last
        FROM drawdown
        WHERE ${VISIBLE_ON_CHAIN} AND vault IN {vaults:Array(String)}
          AND toDateTime(day, 'UTC') >= ${NEXT_DAY('{since:UInt32}')}
        GROUP BY vault, day
      ) ARRAY JOIN arrayDistinct({starts:Array(UInt32)}) AS start
      WHERE toDateTime(day, 'UTC') >= ${NEXT_DAY('start')}
    )
    GROUP BY vault, start`,
  row: rowOf('drawdown', ['vault']).extend({ start: z.number(), drawdown: z.number() }),
})
