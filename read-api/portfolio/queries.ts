import type { Columns } from '../../db/clickhouse/rows.ts'
import { columns, defineQuery, rowOf, z } from '../moment/query.ts'
import { VISIBLE, VISIBLE_ON_CHAIN } from '../moment/visible.ts'

const AT = `toDateTime({at:UInt32}, 'UTC')`

const HELD = `${VISIBLE} AND holder = {account:String} AND timestamp <= ${AT}`

/**
 * An account's balances at a timestamp on every chain, in base units, those of zero left out. `account_vault` says only
 * where to look: a head table, whose rows may be newer than the moment asked for.
 */
export const balancesAt = defineQuery({
  name: 'balances_at',
  sql: `SELECT chain_id, vault, toString(b) AS balance FROM (
      SELECT chain_id, vault, argMax(balance, (timestamp, position)) AS b
      FROM balance
      WHERE ${HELD}
        AND (chain_id, vault) IN (SELECT chain_id, vault FROM account_vault WHERE account = {account:String})
      GROUP BY chain_id, vault)
    WHERE b > 0`,
  row: rowOf('balance', ['chain_id', 'vault', 'balance']),
})

/** Of each chain of {as_of}, whichever of them there are. */
const OF_THESE = 'vault IN {names:Array(String)}'

/** The same of named vaults. */
export const theseBalancesAt = defineQuery({
  name: 'these_balances_at',
  sql: `SELECT chain_id, vault, toString(argMax(balance, (timestamp, position))) AS balance
    FROM balance
    WHERE ${HELD} AND ${OF_THESE}
    GROUP BY chain_id, vault`,
  row: rowOf('balance', ['chain_id', 'vault', 'balance']),
})

const head = columns('account_vault', ['chain_id', 'vault', 'balance', 'position'], { at: 'timestamp' })

/**
 * What an account ever held, each row with the position it is of: the heads as they are now, of which the one with the highest
 * position is the newest. A short read of one primary key, where `balances_at` looks into the history of each vault.
 */
export const newestBalances = defineQuery({
  name: 'newest_balances',
  sql: `SELECT ${head.select()} FROM account_vault
    WHERE account = {account:String}`,
  row: z.object(head.row),
})

/** The same of one vault. */
export const newestBalance = defineQuery({
  name: 'newest_balance',
  sql: `SELECT ${head.select()} FROM account_vault
    WHERE account = {account:String} AND chain_id = {chain:UInt32} AND vault = {vault:String}`,
  row: z.object(head.row),
})

/** What {accounts} hold of the vaults of one chain, in base units, nothing left out but zero. */
export const holdings = defineQuery({
  name: 'holdings',
  sql: `SELECT holder, vault, toString(b) AS balance FROM (
      SELECT holder, vault, argMax(balance, (timestamp, position)) AS b
      FROM balance
      WHERE ${VISIBLE_ON_CHAIN} AND (vault, holder) IN (
        SELECT vault, account FROM account_vault WHERE chain_id = {chain:UInt32} AND account IN {accounts:Array(String)})
      GROUP BY holder, vault)
    WHERE b > 0`,
  row: rowOf('balance', ['holder', 'vault', 'balance']),
})

/** The last row of each vault at or before {at}, whose time or hour is no earlier than {since}. */
const lastState = (
  columns: Columns,
  hour?: string,
) => `SELECT chain_id, vault, toUnixTimestamp(timestamp) AS at, block_number, ${columns.select('states')}
  FROM ${columns.table} AS states
  WHERE ${VISIBLE} AND ${OF_THESE} AND timestamp <= ${AT}
    AND ${hour ?? 'timestamp'} >= toDateTime({since:UInt32}, 'UTC')${hour ? ` AND ${hour} <= ${AT}` : ''}
  ORDER BY chain_id, vault, timestamp DESC, position DESC LIMIT 1 BY chain_id, vault`

const OF_STATE = ['chain_id', 'vault', 'block_number'] as const

const sample = columns('vault_sample', [
  'total_assets',
  'total_supply',
  'share_price_raw',
  'share_price',
  'fine_price',
  'fine_digits',
])

/** The last state of vaults at or before {at}, no older than {since}. */
export const statesAt = defineQuery({
  name: 'states_at',
  sql: lastState(sample),
  row: rowOf('vault_sample', OF_STATE, { at: 'timestamp' }).extend(sample.row),
})
export type StateRow = z.output<typeof statesAt.row>

const apy = columns('vault_hourly', ['apy_1h', 'apy_1d', 'apy_7d', 'apy_30d'])

export const apysAt = defineQuery({
  name: 'apys_at',
  sql: lastState(apy, 'hour'),
  row: rowOf('vault_hourly', OF_STATE, { at: 'timestamp' }).extend(apy.row),
})
export type ApyRow = z.output<typeof apysAt.row>

export const feedsAt = defineQuery({
  name: 'feeds_at',
  sql: `SELECT chain_id, feed, argMax(price, (timestamp, position)) AS price, toUnixTimestamp(max(timestamp)) AS reported_at
    FROM feed_price
    WHERE ${VISIBLE} AND feed IN {names:Array(String)}
      AND timestamp <= ${AT} AND timestamp >= toDateTime({since:UInt32}, 'UTC')
    GROUP BY chain_id, feed`,
  row: rowOf('feed_price', ['chain_id', 'feed', 'price'], { reported_at: 'timestamp' }),
})

/** Of each vault: whether the account held it at {from}, took it up in ({from}, {to}], and holds it now. */
export const positionsInWindow = defineQuery({
  name: 'positions_in_window',
  sql: `SELECT chain_id, vault,
      argMaxIf(kind, (timestamp, position), timestamp <= toDateTime({from:UInt32}, 'UTC')) = 'opened' AS was_open,
      countIf(kind = 'opened' AND timestamp > toDateTime({from:UInt32}, 'UTC') AND timestamp <= toDateTime({to:UInt32}, 'UTC')) > 0 AS opened,
      argMax(kind, (timestamp, position)) = 'opened' AS is_open,
      min(timestamp) AS since
    FROM position_change
    WHERE ${VISIBLE} AND account = {account:String}
    GROUP BY chain_id, vault
    HAVING was_open OR opened
    ORDER BY since, chain_id, vault`,
  row: rowOf('position_change', ['chain_id', 'vault']).extend({ is_open: z.coerce.boolean() }),
})
