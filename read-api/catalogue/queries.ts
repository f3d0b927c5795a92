import { defineQuery, uint, z } from '../moment/query.ts'
import { VISIBLE_ON_CHAIN } from '../moment/visible.ts'

/** Loading and advancing the catalogue. `{from}` is exclusive: 0 loads everything. */
const CHANGED = `${VISIBLE_ON_CHAIN} AND position > {from:UInt64}`

const vaultRow = z.object({
  vault: z.string(),
  protocol: z.string(),
  name: z.string(),
  symbol: z.string(),
  decimals: z.number(),
  asset: z.string(),
  asset_name: z.string(),
  asset_symbol: z.string(),
  asset_decimals: z.number(),
  deployed_at: z.number().nullable(),
  async_deposits: z.number().nullable(),
  async_redemptions: z.number().nullable(),
  seen_at: z.number(),
})
export type VaultRow = z.output<typeof vaultRow>

const VAULT_COLUMNS = `vault, protocol, name, symbol, decimals, asset, asset_name, asset_symbol, asset_decimals,
  toUnixTimestamp(deployed_at) AS deployed_at, toUnixTimestamp(timestamp) AS seen_at, async_deposits, async_redemptions`

export const changedVaults = defineQuery({
  name: 'catalogue_vaults',
  sql: `SELECT ${VAULT_COLUMNS} FROM vault WHERE ${CHANGED} ORDER BY vault, position DESC LIMIT 1 BY vault`,
  row: vaultRow,
})

export const theseVaults = defineQuery({
  name: 'catalogue_vaults_again',
  sql: `SELECT ${VAULT_COLUMNS} FROM vault WHERE ${VISIBLE_ON_CHAIN} AND vault IN {vaults:Array(String)}
    ORDER BY vault, position DESC LIMIT 1 BY vault`,
  row: vaultRow,
})

/** Vaults that a factory of the registry made: of all that is seen at {p}. */
export const madeVaults = defineQuery({
  name: 'catalogue_made',
  sql: `SELECT DISTINCT vault FROM vault_made WHERE ${VISIBLE_ON_CHAIN}`,
  row: z.object({ vault: z.string() }),
})

const assetRow = z.object({ asset: z.string(), name: z.string(), symbol: z.string(), decimals: z.number() })
export type AssetRow = z.output<typeof assetRow>

export const describedAssets = defineQuery({
  name: 'catalogue_assets',
  sql: `SELECT asset, name, symbol, decimals FROM asset WHERE ${CHANGED} ORDER BY asset, position DESC LIMIT 1 BY asset`,
  row: assetRow,
})

const sampleRow = z.object({
  vault: z.string(),
  total_assets: z.string().nullable(),
  total_supply: z.string().nullable(),
  share_price_raw: z.string().nullable(),
  fine_price: z.string().nullable(),
  fine_digits: z.number(),
  share_price: z.number().nullable(),
  max_deposit: z.string().nullable(),
  idle_assets: z.string().nullable(),
  borrowed_assets: z.string().nullable(),
  block_number: uint,
  sampled_at: z.number(),
  position: uint,
})
export type SampleRow = z.output<typeof sampleRow>

const SAMPLE = `SELECT vault, toString(s.1) AS total_assets, toString(s.2) AS total_supply, s.3 AS share_price,
    s.4 AS block_number, s.5 AS sampled_at, toString(s.6) AS share_price_raw,
    toString(s.7) AS max_deposit, toString(s.8) AS idle_assets, toString(s.9) AS borrowed_assets,
    toString(s.10) AS fine_price, s.11 AS fine_digits, s.12 AS position
  FROM (
    SELECT vault, argMax((total_assets, total_supply, share_price, block_number, toUnixTimestamp(timestamp),
      share_price_raw, max_deposit, idle_assets, borrowed_assets, fine_price, fine_digits, position), (timestamp, position)) AS s
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

const apyRow = z.object({
  vault: z.string(),
  hour: z.number(),
  apy_1h: z.number().nullable(),
  apy_1d: z.number().nullable(),
  apy_7d: z.number().nullable(),
  apy_30d: z.number().nullable(),
  /** Total assets over time since the first sample, base units × seconds. */
  asset_seconds: z.number().nullable(),
})
export type ApyRow = z.output<typeof apyRow>

const APY = `SELECT vault, a.1 AS apy_1h, a.2 AS apy_1d, a.3 AS apy_7d, a.4 AS apy_30d, a.5 AS hour, asset_seconds
  FROM (
    SELECT vault, argMax((apy_1h, apy_1d, apy_7d, apy_30d, toUnixTimestamp(hour)), (hour, position)) AS a,
      toFloat64(max(growth_weight)) AS asset_seconds
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

const feedRow = z.object({ feed: z.string(), price: z.number(), priced_at: z.number() })
export type FeedRow = z.output<typeof feedRow>

const FEED = `SELECT feed, f.1 AS price, f.2 AS priced_at
  FROM (
    SELECT feed, argMax((price, toUnixTimestamp(timestamp)), (timestamp, position)) AS f
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
  row: z.object({ contract: z.string(), types: z.array(z.string()), since: z.number() }),
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
  row: z.object({ contract: z.string() }),
})

/** Facts of the registry in order: of each subject and kind the last, of what makes prices and rewards of the past every one. */
export const registryFacts = defineQuery({
  name: 'catalogue_facts',
  sql: `SELECT subject, kind, value, removed, toUnixTimestamp(timestamp) AS recorded_at
    FROM registry_fact FINAL
    WHERE position <= {p:UInt64} AND position > {from:UInt64}
      AND (kind IN ('feed', 'peg', 'rewards') OR position IN (
        SELECT max(position) FROM registry_fact WHERE position <= {p:UInt64} AND position > {from:UInt64}
        GROUP BY subject, kind))
    ORDER BY position`,
  row: z.object({
    subject: z.string(),
    kind: z.string(),
    value: z.string(),
    removed: z.number(),
    recorded_at: z.number(),
  }),
})

/** Used by health: any answer will do. */
export const ping = defineQuery({
  name: 'health',
  sql: 'SELECT 1 AS one',
  row: z.object({ one: z.number() }),
})
