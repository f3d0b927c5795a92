import { defineQuery, uint, z } from '../moment/query.ts'
import { VISIBLE_ON_CHAIN as VISIBLE } from '../moment/visible.ts'

/** Lending markets of one chain as of {p}. Integers wider than 64 bits come as text. */

/** Rows of the newest visible position of each key: two narrow columns are read before the wide ones. */
const newest = (table: string, key: string) => `SELECT * FROM ${table} WHERE ${VISIBLE} AND position IN (
    SELECT max(position) FROM ${table} WHERE ${VISIBLE} GROUP BY ${key}) LIMIT 1 BY ${key}`

export const morphoMarkets = defineQuery({
  name: 'morpho_markets',
  sql: `SELECT m.morpho AS morpho, m.market AS market, m.loan_asset AS loan_asset, m.collateral_asset AS collateral_asset,
      m.oracle AS oracle, m.irm AS irm, toString(m.lltv_wad) AS lltv,
      toString(s.supply_assets) AS supply_assets, toString(s.supply_shares) AS supply_shares,
      toString(s.borrow_assets) AS borrow_assets, toString(s.borrow_shares) AS borrow_shares,
      toString(s.collateral) AS collateral, s.last_update AS last_update, toString(s.fee_wad) AS fee,
      coalesce(if(a.market = '', NULL, toString(a.rate_wad)), toString(s.borrow_rate_wad)) AS borrow_rate, if(r.market = '', NULL, toString(r.rate_at_target_wad)) AS rate_at_target,
      if(o.market = '', NULL, toString(o.price)) AS oracle_price
    FROM (${newest('morpho_market', 'market')}) AS m
    INNER JOIN (${newest('morpho_state', 'market')}) AS s ON m.market = s.market
    LEFT JOIN (${newest('morpho_rate', 'market')}) AS r ON m.market = r.market
    LEFT JOIN (${newest('morpho_sampled_rate', 'market')}) AS a ON m.market = a.market
    LEFT JOIN (${newest('oracle_price', 'market, asset')}) AS o ON m.market = o.market
    ORDER BY market`,
  row: z.object({
    morpho: z.string(),
    market: z.string(),
    loan_asset: z.string(),
    collateral_asset: z.string().nullable(),
    oracle: z.string().nullable(),
    irm: z.string().nullable(),
    lltv: z.string(),
    supply_assets: z.string(),
    supply_shares: z.string(),
    borrow_assets: z.string(),
    borrow_shares: z.string(),
    collateral: z.string(),
    last_update: z.number(),
    fee: z.string(),
    borrow_rate: z.string().nullable(),
    rate_at_target: z.string().nullable(),
    oracle_price: z.string().nullable(),
  }),
})
export type MorphoRow = z.output<typeof morphoMarkets.row>

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

export const morphoPositions = defineQuery({
  name: 'morpho_positions',
  sql: `SELECT account, market, toString(p.1) AS supply_shares, toString(p.2) AS borrow_shares, toString(p.3) AS collateral
    FROM (SELECT account, market, argMax((supply_shares, borrow_shares, collateral), position) AS p FROM morpho_position
      WHERE ${VISIBLE} AND account IN {accounts:Array(String)} GROUP BY account, market)`,
  row: z.object({
    account: z.string(),
    market: z.string(),
    supply_shares: z.string(),
    borrow_shares: z.string(),
    collateral: z.string(),
  }),
})

export const aaveBalances = defineQuery({
  name: 'aave_balances',
  sql: `SELECT account, token, toString(argMax(b.scaled, position)) AS scaled FROM aave_balance AS b
    WHERE ${VISIBLE} AND account IN {accounts:Array(String)} GROUP BY account, token`,
  row: z.object({ account: z.string(), token: z.string(), scaled: z.string() }),
})

/** What accounts have supplied to the markets of a chain, by asset, as of the last time each market reckoned its interest. */
export const lentAssets = defineQuery({
  name: 'lent_assets',
  sql: `SELECT account, asset, toString(sum(amount)) AS amount FROM (
      SELECT held.account AS account, m.loan_asset AS asset,
        intDiv(held.shares * (s.supply_assets + 1), s.supply_shares + 1000000) AS amount
      FROM (SELECT account, market, argMax(supply_shares, position) AS shares FROM morpho_position
        WHERE ${VISIBLE} AND account IN {accounts:Array(String)} GROUP BY account, market) AS held
      INNER JOIN (${newest('morpho_market', 'market')}) AS m ON held.market = m.market
      INNER JOIN (${newest('morpho_state', 'market')}) AS s ON held.market = s.market
      UNION ALL
      SELECT held.account AS account, t.asset AS asset,
        intDiv(held.scaled * toInt256(i.liquidity_index), toInt256('1000000000000000000000000000')) AS amount
      FROM (SELECT account, token, argMax(b.scaled, position) AS scaled FROM aave_balance AS b
        WHERE ${VISIBLE} AND account IN {accounts:Array(String)} GROUP BY account, token) AS held
      INNER JOIN (${newest('aave_token', 'a_token')}) AS t ON held.token = t.a_token
      INNER JOIN (${newest('aave_index', 'pool, asset')}) AS i ON t.pool = i.pool AND t.asset = i.asset
    ) GROUP BY account, asset`,
  row: z.object({ account: z.string(), asset: z.string(), amount: z.string() }),
})

export const aaveChoices = defineQuery({
  name: 'aave_choices',
  sql: `SELECT pool, market, argMax(value, position) AS value FROM aave_choice
    WHERE ${VISIBLE} AND account = {account:String} GROUP BY pool, market`,
  row: z.object({ pool: z.string(), market: z.string(), value: z.number() }),
})

export const lendingEventRow = z.object({
  at: uint,
  block_number: uint,
  event_type: z.enum(['supply', 'withdraw', 'borrow', 'repay', 'liquidation']),
  assets: z.string(),
  tx_hash: z.string(),
  log_index: z.number(),
})

export const lendingEvents = defineQuery({
  name: 'lending_events',
  sql: `SELECT toUnixTimestamp(timestamp) AS at, block_number, event_type, toString(assets) AS assets, tx_hash, log_index
    FROM lending_event FINAL
    WHERE ${VISIBLE} AND account = {account:String} AND contract = {contract:String} AND market = {market:String} AND side = {side:String}
    ORDER BY position, part`,
  row: lendingEventRow,
})
