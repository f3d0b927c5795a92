import { defineQuery, uint, z } from '../moment/query.ts'
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
