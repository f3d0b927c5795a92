import { columns, defineQuery, rowOf, uint, z } from '../moment/query.ts'
import { VISIBLE_ON_CHAIN } from '../moment/visible.ts'

/** Loading and advancing the catalogue. `{from}` is exclusive: 0 loads everything. */
const CHANGED = `${VISIBLE_ON_CHAIN} AND position > {from:UInt64}`

const vault = columns(
  'vault',
  [
    'vault',
    'protocol',
    'name',
    'symbol',
    'decimals',
    'asset',
    'asset_name',
    'asset_symbol',
    'asset_decimals',
    'deployed_at',
    'async_deposits',
    'async_redemptions',
  ],
  { seen_at: 'timestamp' },
)
const vaultRow = z.object(vault.row)
export type VaultRow = z.output<typeof vaultRow>

export const changedVaults = defineQuery({
  name: 'catalogue_vaults',
  sql: `SELECT ${vault.select()} FROM vault WHERE ${CHANGED} ORDER BY vault, position DESC LIMIT 1 BY vault`,
  row: vaultRow,
})

export const theseVaults = defineQuery({
  name: 'catalogue_vaults_again',
  sql: `SELECT ${vault.select()} FROM vault WHERE ${VISIBLE_ON_CHAIN} AND vault IN {vaults:Array(String)}
    ORDER BY vault, position DESC LIMIT 1 BY vault`,
  row: vaultRow,
})

/** Vaults that a factory of the registry made: of all that is seen at {p}. */
export const madeVaults = defineQuery({
  name: 'catalogue_made',
  sql: `SELECT DISTINCT vault FROM vault_made WHERE ${VISIBLE_ON_CHAIN}`,
  row: rowOf('vault_made', ['vault']),
})

const asset = columns('asset', ['asset', 'name', 'symbol', 'decimals'])
const assetRow = z.object(asset.row)
export type AssetRow = z.output<typeof assetRow>

export const describedAssets = defineQuery({
  name: 'catalogue_assets',
  sql: `SELECT ${asset.select()} FROM asset WHERE ${CHANGED} ORDER BY asset, position DESC LIMIT 1 BY asset`,
  row: assetRow,
})

const sample = columns(
  'vault_sample',
  [
    'total_assets',
    'total_supply',
    'share_price_raw',
    'fine_price',
    'fine_digits',
    'share_price',
    'max_deposit',
    'idle_assets',
    'borrowed_assets',
    'block_number',
    'position',
  ],
  { sampled_at: 'timestamp' },
)
const sampleRow = rowOf('vault_sample', ['vault']).extend(sample.row)
export type SampleRow = z.output<typeof sampleRow>

const SAMPLE = `SELECT vault, ${sample.fromTuple('s')}
  FROM (
    SELECT vault, argMax((${sample.list()}), (timestamp, position)) AS s
    FROM vault_sample WHERE`

export const changedSamples = defineQuery({
  name: 'catalogue_samples',
  sql: `${SAMPLE} ${CHANGED} GROUP BY vault)`,
  row: sampleRow,
})

export const theseSamples = defineQuery({
  name: 'catalogue_samples_again',
  sql: `${SAMPLE} ${VISIBLE_ON_CHAIN} AND vault IN {vaults:Array(String)} AND timestamp >= toDateTime({since:UInt32}, 'UTC')
    GROUP BY vault)`,
  row: sampleRow,
})

const apy = columns('vault_hourly', ['apy_1h', 'apy_1d', 'apy_7d', 'apy_30d', 'hour'])
const apyRow = rowOf('vault_hourly', ['vault']).extend({
  ...apy.row,
  /** Total assets over time since the first sample, base units × seconds. */
  asset_seconds: z.number().nullable(),
})
export type ApyRow = z.output<typeof apyRow>

const APY = `SELECT vault, ${apy.fromTuple('a')}, asset_seconds
  FROM (
    SELECT vault, argMax((${apy.list()}), (hour, position)) AS a, toFloat64(max(growth_weight)) AS asset_seconds
    FROM vault_hourly WHERE`

export const changedApy = defineQuery({
  name: 'catalogue_apy',
  sql: `${APY} ${CHANGED} GROUP BY vault)`,
  row: apyRow,
})

export const theseApy = defineQuery({
  name: 'catalogue_apy_again',
  sql: `${APY} ${VISIBLE_ON_CHAIN} AND vault IN {vaults:Array(String)} AND hour >= toStartOfHour(toDateTime({since:UInt32}, 'UTC'))
    GROUP BY vault)`,
  row: apyRow,
})

const answer = columns('feed_price', ['price'], { priced_at: 'timestamp' })
const feedRow = rowOf('feed_price', ['feed']).extend(answer.row)
export type FeedRow = z.output<typeof feedRow>

const FEED = `SELECT feed, ${answer.fromTuple('f')}
  FROM (
    SELECT feed, argMax((${answer.list()}), (timestamp, position)) AS f
    FROM feed_price WHERE`

export const changedFeeds = defineQuery({
  name: 'catalogue_feeds',
  sql: `${FEED} ${CHANGED} GROUP BY feed)`,
  row: feedRow,
})

export const theseFeeds = defineQuery({
  name: 'catalogue_feeds_again',
  sql: `${FEED} ${VISIBLE_ON_CHAIN} AND feed IN {feeds:Array(String)} AND timestamp >= toDateTime({since:UInt32}, 'UTC')
    GROUP BY feed)`,
  row: feedRow,
})

/** Contracts with events in ({from}, {p}], by the event store's own order: what an advance has to look at. Retractions have none: ''. */
export const movedContracts = defineQuery({
  name: 'catalogue_moved',
  sql: `SELECT contract, groupUniqArray(type) AS types, toUnixTimestamp(min(timestamp)) AS since
    FROM event
    WHERE stream = toInt32({chain:UInt32}) AND position > {from:UInt64} AND position <= {p:UInt64}
    GROUP BY contract`,
  row: rowOf('event', ['contract']).extend({ types: z.array(z.string()), since: z.number() }),
})

/** Feeds that were reported on in ({from}, {p}]; the contracts that report are their aggregators. */
export const reportedFeeds = defineQuery({
  name: 'catalogue_reported',
  sql: `SELECT DISTINCT JSONExtractString(data, 'feed') AS feed FROM event
    WHERE stream = toInt32({chain:UInt32}) AND position > {from:UInt64} AND position <= {p:UInt64} AND type = 'PriceReported'`,
  row: z.object({ feed: z.string() }),
})

/**
 * A row with the newest retraction in ({from}, {p}] of a block with events: one of another block hides nothing. From the events
 * themselves, which were there before what is reckoned from them.
 */
export const lastRetraction = defineQuery({
  name: 'catalogue_last_retraction',
  sql: `SELECT max(position) AS newest FROM event
    WHERE stream = toInt32({chain:UInt32}) AND position > {from:UInt64} AND position <= {p:UInt64} AND type = 'BlockRetracted'
      AND JSONExtractUInt(data, 'toPosition') >= JSONExtractUInt(data, 'fromPosition') HAVING count() > 0`,
  row: z.object({ newest: uint }),
})

/**
 * Vaults and feeds whose rows a retraction in ({from}, {p}] touched: they are loaded anew, since what was newest may be
 * gone.
 */
export const retractedContracts = defineQuery({
  name: 'catalogue_retracted',
  sql: `SELECT DISTINCT if(type = 'PriceReported', JSONExtractString(data, 'feed'), contract) AS contract FROM event
    WHERE stream = toInt32({chain:UInt32}) AND position IN (
      SELECT position FROM retracted
      WHERE stream = toInt32({chain:UInt32}) AND retracted_by > {from:UInt64} AND retracted_by <= {p:UInt64})`,
  row: rowOf('event', ['contract']),
})

const fact = columns('registry_fact', ['subject', 'kind', 'value', 'removed'], { recorded_at: 'timestamp' })

/** Facts of the registry in order: of each subject and kind the last, of what makes prices and rewards of the past every one. */
export const registryFacts = defineQuery({
  name: 'catalogue_facts',
  sql: `SELECT ${fact.select()} FROM registry_fact FINAL
    WHERE position <= {p:UInt64} AND position > {from:UInt64}
      AND (kind IN ('feed', 'peg', 'rewards') OR position IN (
        SELECT max(position) FROM registry_fact WHERE position <= {p:UInt64} AND position > {from:UInt64}
        GROUP BY subject, kind))
    ORDER BY position`,
  row: z.object(fact.row),
})

/** Used by health: any answer will do. */
export const ping = defineQuery({
  name: 'health',
  sql: 'SELECT 1 AS one',
  row: z.object({ one: z.number() }),
})
