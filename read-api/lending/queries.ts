import { defineQuery, uint, z } from '../moment/query.ts'
import { VISIBLE_ON_CHAIN as VISIBLE } from '../moment/visible.ts'

/** What lending markets of one chain have in common, as of {p}. Integers wider than 64 bits come as text. */

/** Rows of the newest visible position of each key: two narrow columns are read before the wide ones. */
export const newest = (
  table: string,
  key: string,
) => `SELECT * FROM ${table} WHERE ${VISIBLE} AND position IN (
    SELECT max(position) FROM ${table} WHERE ${VISIBLE} GROUP BY ${key}) LIMIT 1 BY ${key}`

/** What feeds answered last; positions tell whether a sample of their oracle is newer. */
export const feedAnswers = defineQuery({
  name: 'feed_answers',
  sql: `SELECT feed, toString(tupleElement(last, 1)) AS answer, tupleElement(last, 2) AS position
    FROM (SELECT feed, argMax((answer, position), (timestamp, position)) AS last FROM feed_price
      WHERE ${VISIBLE} AND feed IN {feeds:Array(String)} GROUP BY feed)`,
  row: z.object({ feed: z.string(), answer: z.string(), position: uint }),
})
export type FeedAnswer = z.output<typeof feedAnswers.row>

/** What oracles answered last, by sample; no price: they did not answer. */
export const sampledPrices = defineQuery({
  name: 'sampled_prices',
  sql: `SELECT contract, market, asset, oracle, toString(price) AS price, position
    FROM (${newest('oracle_price', 'contract, market, asset')})`,
  row: z.object({
    contract: z.string(),
    market: z.string(),
    asset: z.string(),
    oracle: z.string(),
    price: z.string().nullable(),
    position: uint,
  }),
})
export type SampledPrice = z.output<typeof sampledPrices.row>

export const lendingEventRow = z.object({
  at: uint,
  block_number: uint,
  event_type: z.enum(['supply', 'withdraw', 'borrow', 'repay', 'liquidation']),
  assets: z.string(),
  tx_hash: z.string(),
  log_index: z.number(),
})

/** What an account did, by whichever of a wallet's accounts. */
export type LendingEvent = z.output<typeof lendingEventRow> & { account: string }

export const lendingEvents = defineQuery({
  name: 'lending_events',
  sql: `SELECT toUnixTimestamp(timestamp) AS at, block_number, event_type, toString(assets) AS assets, tx_hash, log_index
    FROM lending_event FINAL
    WHERE ${VISIBLE} AND account = {account:String} AND contract = {contract:String} AND market = {market:String} AND side = {side:String}
    ORDER BY position, part`,
  row: lendingEventRow,
})

/** By block up to {to} what accounts paid in and out themselves: liquidations are not among it. */
export const ownLendingFlows = defineQuery({
  name: 'own_lending_flows',
  sql: `SELECT account, contract, market, side, block_number AS block, toUnixTimestamp(max(timestamp)) AS at,
      toString(sumIf(assets, event_type = 'supply')) AS supply, toString(sumIf(assets, event_type = 'withdraw')) AS withdraw,
      toString(sumIf(assets, event_type = 'borrow')) AS borrow, toString(sumIf(assets, event_type = 'repay')) AS repay
    FROM lending_event FINAL
    WHERE ${VISIBLE} AND protocol = {protocol:String} AND account IN {accounts:Array(String)} AND event_type != 'liquidation'
      AND timestamp <= toDateTime({to:UInt32}, 'UTC')
    GROUP BY account, contract, market, side, block
    ORDER BY block LIMIT {limit:UInt32}`,
  row: z.object({
    account: z.string(),
    contract: z.string(),
    market: z.string(),
    side: z.enum(['loan', 'collateral']),
    block: uint,
    at: uint,
    supply: z.string(),
    withdraw: z.string(),
    borrow: z.string(),
    repay: z.string(),
  }),
})
export type OwnFlow = z.output<typeof ownLendingFlows.row>

/** By block up to {to}, what {columns} of a table were after it, of each account and {key}: SQL that gives them as text. */
export const holdingsByBlock = <C extends z.ZodRawShape>(of: {
  name: string
  table: string
  account?: string
  key: string
  where?: string
  /** SQL of a row `s`, by column. */
  columns: Record<string, string>
  row: C
}) =>
  defineQuery({
    name: of.name,
    sql: `SELECT account, ${of.key}, block, at, ${Object.keys(of.columns)
      .map((name, i) => `toString(last.${i + 1}) AS ${name}`)
      .join(', ')}
      FROM (
        SELECT ${of.account ?? 'account'} AS account, ${of.key}, block_number AS block, toUnixTimestamp(max(timestamp)) AS at,
          argMax(tuple(${Object.values(of.columns).join(', ')}), position) AS last
        FROM ${of.table} AS s
        WHERE ${VISIBLE} AND ${of.account ?? 'account'} IN {accounts:Array(String)} AND timestamp <= toDateTime({to:UInt32}, 'UTC')${of.where ?? ''}
        GROUP BY account, ${of.key}, block)
      ORDER BY block LIMIT {limit:UInt32}`,
    row: z.object({ account: z.string(), block: uint, at: uint, ...of.row }),
  })
