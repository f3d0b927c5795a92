import { newest } from '../../lending/queries.ts'
import { defineQuery, uint, z } from '../../moment/query.ts'
import { VISIBLE_ON_CHAIN as VISIBLE } from '../../moment/visible.ts'

/** Aave v3 of one chain as of {p}. Integers wider than 64 bits come as text. */

export const aaveReserves = defineQuery({
  name: 'aave_reserves',
  sql: `SELECT r.configurator AS configurator, t.pool AS pool, r.asset AS asset, r.a_token AS a_token,
      r.variable_debt_token AS debt_token, t.decimals AS decimals, toUnixTimestamp(i.timestamp) AS updated_at,
      toString(i.liquidity_rate) AS liquidity_rate, toString(i.variable_borrow_rate) AS borrow_rate,
      toString(i.liquidity_index) AS liquidity_index, toString(i.variable_borrow_index) AS borrow_index,
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
  row: z.object({
    configurator: z.string(),
    pool: z.string(),
    asset: z.string(),
    a_token: z.string(),
    debt_token: z.string(),
    decimals: z.number(),
    updated_at: uint,
    liquidity_rate: z.string(),
    borrow_rate: z.string(),
    liquidity_index: z.string(),
    borrow_index: z.string(),
    available: z.string().nullable(),
  }),
})
export type AaveRow = z.output<typeof aaveReserves.row>

export const aaveTotals = defineQuery({
  name: 'aave_totals',
  sql: `SELECT t.token AS token, toString(t.scaled) AS scaled, r.revision AS revision
    FROM (${newest('aave_total', 'token')}) AS t
    LEFT JOIN (${newest('aave_revision', 'token')}) AS r ON t.token = r.token`,
  row: z.object({ token: z.string(), scaled: z.string(), revision: z.number() }),
})

export const aaveSettings = defineQuery({
  name: 'aave_settings',
  sql: `SELECT source, market, key, argMax(value, position) AS value FROM lending_setting
    WHERE ${VISIBLE} AND protocol = 'aave-v3' GROUP BY source, market, key`,
  row: z.object({ source: z.string(), market: z.string(), key: z.string(), value: z.string() }),
})

export const aaveBalances = defineQuery({
  name: 'aave_balances',
  sql: `SELECT account, token, toString(argMax(b.scaled, position)) AS scaled FROM aave_balance AS b
    WHERE ${VISIBLE} AND account IN {accounts:Array(String)} GROUP BY account, token`,
  row: z.object({ account: z.string(), token: z.string(), scaled: z.string() }),
})

export const aaveChoices = defineQuery({
  name: 'aave_choices',
  sql: `SELECT pool, market, argMax(value, position) AS value FROM aave_choice
    WHERE ${VISIBLE} AND account = {account:String} GROUP BY pool, market`,
  row: z.object({ pool: z.string(), market: z.string(), value: z.number() }),
})

/** What accounts have supplied, with interest up to the reserve's last update. */
export const lent = `SELECT held.account AS account, t.asset AS asset, '' AS market,
        intDiv(held.scaled * toInt256(i.liquidity_index), toInt256('1000000000000000000000000000')) AS amount
      FROM (SELECT account, token, argMax(b.scaled, position) AS scaled FROM aave_balance AS b
        WHERE ${VISIBLE} AND account IN {accounts:Array(String)} GROUP BY account, token) AS held
      INNER JOIN (${newest('aave_token', 'a_token')}) AS t ON held.token = t.a_token
      INNER JOIN (${newest('aave_index', 'pool, asset')}) AS i ON t.pool = i.pool AND t.asset = i.asset`
