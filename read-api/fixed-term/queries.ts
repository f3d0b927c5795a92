import { defineQuery, uint, z } from '../moment/query.ts'
import { statesAtTimes } from '../moment/states-at.ts'
import { VISIBLE_ON_CHAIN as VISIBLE } from '../moment/visible.ts'

/** Rows of the newest visible position of each market. */
const newest = (table: string) => `SELECT * FROM ${table} WHERE ${VISIBLE} AND position IN (
    SELECT max(position) FROM ${table} WHERE ${VISIBLE} GROUP BY market) LIMIT 1 BY market`

/** The fixed-term markets of one chain as of {p}, with their newest state. Integers wider than 64 bits come as text. */
export const fixedTermMarkets = defineQuery({
  name: 'fixed_term_markets',
  sql: `SELECT m.market AS market, m.protocol AS protocol, m.pt AS pt, m.sy AS sy, m.yt AS yt, m.expiry AS expiry,
      d.name AS name, d.symbol AS symbol, d.decimals AS decimals, d.yield_token AS yield_token, d.asset AS asset,
      if(s.market = '', NULL, toUnixTimestamp(s.timestamp)) AS sampled_at, toString(s.total_pt) AS total_pt,
      toString(s.total_sy) AS total_sy, toString(s.total_lp) AS total_lp, toString(s.ln_rate_wad) AS ln_rate,
      toString(s.pt_supply) AS pt_supply, toString(s.exchange_rate) AS exchange_rate, toString(s.py_index) AS py_index
    FROM (${newest('fixed_term_market')}) AS m
    INNER JOIN (${newest('fixed_term_description')}) AS d ON m.market = d.market
    LEFT JOIN (${newest('fixed_term_state')}) AS s ON m.market = s.market
    ORDER BY market`,
  row: z.object({
    market: z.string(),
    protocol: z.string(),
    pt: z.string(),
    sy: z.string(),
    yt: z.string(),
    expiry: uint,
    name: z.string(),
    symbol: z.string(),
    decimals: z.number(),
    yield_token: z.string(),
    asset: z.string(),
    sampled_at: uint.nullable(),
    total_pt: z.string(),
    total_sy: z.string(),
    total_lp: z.string(),
    ln_rate: z.string(),
    pt_supply: z.string().nullable(),
    exchange_rate: z.string().nullable(),
    py_index: z.string().nullable(),
  }),
})
export type FixedTermRow = z.output<typeof fixedTermMarkets.row>

/** What each SY was worth at the last state in [since, until], unix seconds. */
export const earlierRates = defineQuery({
  name: 'fixed_term_earlier_rates',
  sql: `SELECT market, toString(argMax(exchange_rate, position)) AS rate
    FROM fixed_term_state
    WHERE ${VISIBLE} AND exchange_rate IS NOT NULL
      AND timestamp >= toDateTime({since:UInt32}, 'UTC') AND timestamp <= toDateTime({until:UInt32}, 'UTC')
    GROUP BY market`,
  row: z.object({ market: z.string(), rate: z.string() }),
})

const wide = z.string()
const wideOrNone = z.string().nullable()

/** States of one market at moments. */
export const fixedTermStatesAt = statesAtTimes({
  name: 'fixed_term_states',
  table: 'fixed_term_state',
  key: 'market = {market:String}',
  columns: {
    total_pt: 'toString(s.total_pt)',
    total_sy: 'toString(s.total_sy)',
    total_lp: 'toString(s.total_lp)',
    ln_rate: 'toString(s.ln_rate_wad)',
    pt_supply: 'toString(s.pt_supply)',
    exchange_rate: 'toString(s.exchange_rate)',
    py_index: 'toString(s.py_index)',
  },
  row: {
    total_pt: wide,
    total_sy: wide,
    total_lp: wide,
    ln_rate: wide,
    pt_supply: wideOrNone,
    exchange_rate: wideOrNone,
    py_index: wideOrNone,
  },
})

/** SQL of the chains (`chain_id`) on which {accounts} ever held principal tokens. */
export const PRINCIPAL_HELD = 'SELECT chain_id FROM pt_balance WHERE holder IN {accounts:Array(String)}'

/** Those of the principal tokens {pts} that any of {accounts} ever held. */
export const principalHeld = defineQuery({
  name: 'principal_held',
  sql: `SELECT DISTINCT pt FROM pt_balance WHERE ${VISIBLE} AND pt IN {pts:Array(String)} AND holder IN {accounts:Array(String)}`,
  row: z.object({ pt: z.string() }),
})

const MARKETS_OF_PTS = `SELECT market, pt FROM fixed_term_market WHERE ${VISIBLE} AND pt IN {pts:Array(String)}`

/**
 * By block up to {to} how many of the principal tokens {pts} each account held after it. `is_traded`: as many as it moved
 * were bought from a pool in that block, or sold to one.
 */
export const principalByBlock = defineQuery({
  name: 'principal_by_block',
  sql: `SELECT pt, account, block, at, toString(held) AS balance, (pt, block, abs(moved)) IN (
      SELECT m.pt, t.block_number, abs(t.pt_out) FROM fixed_term_trade AS t
      INNER JOIN (${MARKETS_OF_PTS}) AS m ON t.market = m.market
      WHERE t.market IN (SELECT market FROM (${MARKETS_OF_PTS})) AND t.kind = 'swap' AND ${VISIBLE}) AS is_traded
    FROM (
      SELECT pt, holder AS account, block_number AS block, toUnixTimestamp(max(timestamp)) AS at, argMax(s.balance, position) AS held,
        sum(delta) AS moved
      FROM pt_balance AS s FINAL
      WHERE ${VISIBLE} AND pt IN {pts:Array(String)} AND holder IN {accounts:Array(String)} AND timestamp <= toDateTime({to:UInt32}, 'UTC')
      GROUP BY pt, account, block)
    ORDER BY block LIMIT {limit:UInt32}`,
  row: z.object({
    pt: z.string(),
    account: z.string(),
    block: uint,
    at: uint,
    balance: z.string(),
    is_traded: z.number(),
  }),
})
