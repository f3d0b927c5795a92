import { columns, defineQuery, rowOf, uint, z } from '../moment/query.ts'
import { statesAtTimes } from '../moment/states-at.ts'
import { newest, VISIBLE_ON_CHAIN as VISIBLE } from '../moment/visible.ts'

const market = columns('fixed_term_market', ['market', 'protocol', 'pt', 'sy', 'yt', 'expiry'])
const description = columns('fixed_term_description', ['name', 'symbol', 'decimals', 'yield_token', 'asset'])
const state = columns(
  'fixed_term_state',
  ['total_pt', 'total_sy', 'total_lp', 'pt_supply', 'exchange_rate', 'py_index'],
  { ln_rate: 'ln_rate_wad' },
)

/** The fixed-term markets of one chain as of {p}, with their newest state. Integers wider than 64 bits come as text. */
export const fixedTermMarkets = defineQuery({
  name: 'fixed_term_markets',
  sql: `SELECT ${market.select('m')}, ${description.select('d')},
      if(s.market = '', NULL, toUnixTimestamp(s.timestamp)) AS sampled_at, ${state.select('s')}
    FROM (${newest('fixed_term_market', 'market')}) AS m
    INNER JOIN (${newest('fixed_term_description', 'market')}) AS d ON m.market = d.market
    LEFT JOIN (${newest('fixed_term_state', 'market')}) AS s ON m.market = s.market
    ORDER BY market`,
  row: z.object({ ...market.row, ...description.row, ...state.row, sampled_at: uint.nullable() }),
})
export type FixedTermRow = z.output<typeof fixedTermMarkets.row>

/** What each SY was worth at the last state in [since, until], unix seconds. */
export const earlierRates = defineQuery({
  name: 'fixed_term_earlier_rates',
  sql: `SELECT market, toString(assumeNotNull(argMax(exchange_rate, position))) AS rate
    FROM fixed_term_state
    WHERE ${VISIBLE} AND exchange_rate IS NOT NULL
      AND timestamp >= toDateTime({since:UInt32}, 'UTC') AND timestamp <= toDateTime({until:UInt32}, 'UTC')
    GROUP BY market`,
  row: rowOf('fixed_term_state', ['market']).extend({ rate: z.string() }),
})

/** States of one market at moments. */
export const fixedTermStatesAt = statesAtTimes({
  name: 'fixed_term_states',
  key: 'market = {market:String}',
  columns: state,
})

/** SQL of the chains (`chain_id`) on which {accounts} ever held principal tokens. */
export const PRINCIPAL_HELD = 'SELECT chain_id FROM pt_balance WHERE holder IN {accounts:Array(String)}'

/** Those of the principal tokens {pts} that any of {accounts} ever held. */
export const principalHeld = defineQuery({
  name: 'principal_held',
  sql: `SELECT DISTINCT pt FROM pt_balance WHERE ${VISIBLE} AND pt IN {pts:Array(String)} AND holder IN {accounts:Array(String)}`,
  row: rowOf('pt_balance', ['pt']),
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
    ORDER BY block, pt, account LIMIT {limit:UInt32}`,
  row: rowOf('pt_balance', ['pt', 'balance'], { account: 'holder', block: 'block_number' }).extend({
    at: uint,
    is_traded: z.number(),
  }),
})
