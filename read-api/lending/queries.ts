import type { Columns } from '../../db/clickhouse/rows.ts'
import { columns, defineQuery, rowOf, uint, z } from '../moment/query.ts'
import { newest, VISIBLE_ON_CHAIN as VISIBLE } from '../moment/visible.ts'

/** What lending markets of one chain have in common, as of {p}. Integers wider than 64 bits come as text. */

const answer = columns('feed_price', ['answer', 'position'])

/** What feeds answered last; positions tell whether a sample of their oracle is newer. */
export const feedAnswers = defineQuery({
  name: 'feed_answers',
  sql: `SELECT feed, ${answer.fromTuple('last')}
    FROM (SELECT feed, argMax((${answer.list()}), (timestamp, position)) AS last FROM feed_price
      WHERE ${VISIBLE} AND feed IN {feeds:Array(String)} GROUP BY feed)`,
  row: rowOf('feed_price', ['feed']).extend(answer.row),
})
export type FeedAnswer = z.output<typeof feedAnswers.row>

const price = columns('oracle_price', ['contract', 'market', 'asset', 'oracle', 'price', 'position'])

/** What oracles answered last, by sample; no price: they did not answer. */
export const sampledPrices = defineQuery({
  name: 'sampled_prices',
  sql: `SELECT ${price.select()} FROM (${newest('oracle_price', 'contract, market, asset')})`,
  row: z.object(price.row),
})
export type SampledPrice = z.output<typeof sampledPrices.row>

const event = columns('lending_event', ['block_number', 'event_type', 'assets', 'tx_hash', 'log_index'], {
  at: 'timestamp',
})
export const lendingEventRow = z.object({
  ...event.row,
  event_type: z.enum(['supply', 'withdraw', 'borrow', 'repay', 'liquidation']),
})

/** What an account did, by whichever of a wallet's accounts. */
export type LendingEvent = z.output<typeof lendingEventRow> & { account: string }

export const lendingEvents = defineQuery({
  name: 'lending_events',
  sql: `SELECT ${event.select()} FROM lending_event FINAL
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
    ORDER BY block, account, contract, market, side LIMIT {limit:UInt32}`,
  row: rowOf('lending_event', ['account', 'contract', 'market']).extend({
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

/** By block up to {to}, what these columns of a table were after it, of each account and `key`. */
export const holdingsByBlock = <Key extends z.ZodRawShape, Row extends z.ZodRawShape>(of: {
  name: string
  account?: string
  key: Columns<Key>
  where?: string
  columns: Columns<Row>
}) =>
  defineQuery({
    name: of.name,
    sql: `SELECT account, ${of.key.list()}, block, at, ${of.columns.fromTuple('last')}
      FROM (
        SELECT ${of.account ?? 'account'} AS account, ${of.key.list()}, block_number AS block, toUnixTimestamp(max(timestamp)) AS at,
          argMax(tuple(${of.columns.list('s')}), position) AS last
        FROM ${of.columns.table} AS s
        WHERE ${VISIBLE} AND ${of.account ?? 'account'} IN {accounts:Array(String)} AND timestamp <= toDateTime({to:UInt32}, 'UTC')${of.where ?? ''}
        GROUP BY account, ${of.key.list()}, block)
      ORDER BY block, account, ${of.key.list()} LIMIT {limit:UInt32}`,
    row: z.object({ account: z.string(), block: uint, at: uint, ...of.key.row, ...of.columns.row }),
  })
