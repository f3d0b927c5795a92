import { columns, defineQuery, rowOf, z } from '../../moment/query.ts'
import { newest, VISIBLE_ON_CHAIN as VISIBLE } from '../../moment/visible.ts'

/** Aave v3 of one chain as of {p}. Integers wider than 64 bits come as text. */

const reserve = columns('aave_reserve', ['configurator', 'asset', 'a_token'], {
  debt_token: 'variable_debt_token',
})
const token = columns('aave_token', ['pool', 'decimals'])
const index = columns('aave_index', ['liquidity_rate', 'liquidity_index'], {
  updated_at: 'timestamp',
  borrow_rate: 'variable_borrow_rate',
  borrow_index: 'variable_borrow_index',
})

export const aaveReserves = defineQuery({
  name: 'aave_reserves',
  sql: `SELECT ${reserve.select('r')}, ${token.select('t')}, ${index.select('i')},
      if(l.pool = '', NULL, toString(l.available)) AS available
    FROM (${newest('aave_reserve', 'configurator, asset')}) AS r
    INNER JOIN (${newest('aave_token', 'a_token')}) AS t ON r.a_token = t.a_token
    INNER JOIN (${newest('aave_index', 'pool, asset')}) AS i ON t.pool = i.pool AND t.asset = i.asset
    LEFT JOIN (${newest('aave_liquidity', 'pool, asset')}) AS l ON t.pool = l.pool AND t.asset = l.asset
    LEFT JOIN (SELECT source, market, max(position) AS at FROM lending_setting
      WHERE ${VISIBLE} AND protocol = 'aave-v3' AND key = 'dropped'
      GROUP BY source, market) AS dropped ON r.configurator = dropped.source AND r.asset = dropped.market
    WHERE dropped.at < r.position
    ORDER BY pool, asset`,
  row: z.object({ ...reserve.row, ...token.row, ...index.row, available: z.string().nullable() }),
})
export type AaveRow = z.output<typeof aaveReserves.row>

const total = columns('aave_total', ['token', 'scaled'])
const revision = columns('aave_revision', ['revision'])

export const aaveTotals = defineQuery({
  name: 'aave_totals',
  sql: `SELECT ${total.select('t')}, ${revision.select('r')}
    FROM (${newest('aave_total', 'token')}) AS t
    LEFT JOIN (${newest('aave_revision', 'token')}) AS r ON t.token = r.token`,
  row: z.object({ ...total.row, ...revision.row }),
})

export const aaveSettings = defineQuery({
  name: 'aave_settings',
  sql: `SELECT source, market, key, argMax(value, position) AS value FROM lending_setting
    WHERE ${VISIBLE} AND protocol = 'aave-v3' GROUP BY source, market, key`,
  row: rowOf('lending_setting', ['source', 'market', 'key', 'value']),
})

export const aaveBalances = defineQuery({
  name: 'aave_balances',
  sql: `SELECT account, token, toString(argMax(b.scaled, position)) AS scaled FROM aave_balance AS b
    WHERE ${VISIBLE} AND account IN {accounts:Array(String)} GROUP BY account, token`,
  row: rowOf('aave_balance', ['account', 'token', 'scaled']),
})

export const aaveChoices = defineQuery({
  name: 'aave_choices',
  sql: `SELECT pool, market, argMax(value, position) AS value FROM aave_choice
    WHERE ${VISIBLE} AND account = {account:String} GROUP BY pool, market`,
  row: rowOf('aave_choice', ['pool', 'market', 'value']),
})

/** What accounts have supplied, with interest up to the reserve's last update. */
export const lent = `SELECT held.account AS account, t.asset AS asset, '' AS market,
        intDiv(held.scaled * toInt256(i.liquidity_index), toInt256('1000000000000000000000000000')) AS amount
      FROM (SELECT account, token, argMax(b.scaled, position) AS scaled FROM aave_balance AS b
        WHERE ${VISIBLE} AND account IN {accounts:Array(String)} GROUP BY account, token) AS held
      INNER JOIN (${newest('aave_token', 'a_token')}) AS t ON held.token = t.a_token
      INNER JOIN (${newest('aave_index', 'pool, asset')}) AS i ON t.pool = i.pool AND t.asset = i.asset`
