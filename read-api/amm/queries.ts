import { defineQuery, uint, z } from '../moment/query.ts'
import { statesAtTimes } from '../moment/states-at.ts'
import { VISIBLE_ON_CHAIN as VISIBLE } from '../moment/visible.ts'

/** Rows of the newest visible position of each vault. */
const newest = (
  table: string,
  where = '',
) => `SELECT * FROM ${table} WHERE ${VISIBLE}${where} AND position IN (
    SELECT max(position) FROM ${table} WHERE ${VISIBLE}${where} GROUP BY vault) LIMIT 1 BY vault`

const COLUMNS = {
  total0: 'toString(s.total0)',
  total1: 'toString(s.total1)',
  supply: 'toString(s.supply)',
  root: 'toString(s.sqrt_price_x96)',
  mean_tick: 's.mean_tick',
  base_liquidity: 'toString(s.base_liquidity)',
  base_lower: 's.base_lower',
  base_upper: 's.base_upper',
  limit_liquidity: 'toString(s.limit_liquidity)',
  limit_lower: 's.limit_lower',
  limit_upper: 's.limit_upper',
}
const STATE = `toUnixTimestamp(s.timestamp) AS sampled_at, ${Object.entries(COLUMNS)
  .map(([name, sql]) => `${sql} AS ${name}`)
  .join(', ')}`

const tick = z.number().nullable()
const state = {
  total0: z.string(),
  total1: z.string(),
  supply: z.string(),
  root: z.string(),
  mean_tick: tick,
  base_liquidity: z.string().nullable(),
  base_lower: tick,
  base_upper: tick,
  limit_liquidity: z.string().nullable(),
  limit_lower: tick,
  limit_upper: tick,
}

/** The vaults of liquidity of one chain as of {p}. */
export const ammVaults = defineQuery({
  name: 'amm_vaults',
  sql: `SELECT v.vault AS vault, v.protocol AS protocol, v.factory AS factory, v.creator AS creator, d.name AS name, d.symbol AS symbol,
      d.decimals AS decimals, d.token0 AS token0, d.token1 AS token1, d.takes_token0 AS takes_token0, d.takes_token1 AS takes_token1
    FROM (${newest('amm_vault')}) AS v
    INNER JOIN (${newest('amm_description')}) AS d ON v.vault = d.vault
    ORDER BY vault`,
  row: z.object({
    vault: z.string(),
    protocol: z.string(),
    factory: z.string(),
    creator: z.string(),
    name: z.string(),
    symbol: z.string(),
    decimals: z.number(),
    token0: z.string(),
    token1: z.string(),
    takes_token0: z.number(),
    takes_token1: z.number(),
  }),
})
export type AmmVaultRow = z.output<typeof ammVaults.row>

/** The last state of each vault in [since, until], unix seconds. Integers wider than 64 bits come as text. */
export const ammStates = defineQuery({
  name: 'amm_states',
  sql: `SELECT s.vault AS vault, ${STATE} FROM (${newest(
    'amm_state',
    " AND timestamp >= toDateTime({since:UInt32}, 'UTC') AND timestamp <= toDateTime({until:UInt32}, 'UTC')",
  )}) AS s`,
  row: z.object({ vault: z.string(), sampled_at: uint, ...state }),
})
export type AmmStateRow = z.output<typeof ammStates.row>

/** Shares that an account holds of a vault. */
export const ammBalance = defineQuery({
  name: 'amm_balance',
  sql: `SELECT toString(argMax(balance, position)) AS balance FROM amm_share
    WHERE ${VISIBLE} AND vault = {vault:String} AND holder = {holder:String} HAVING count() > 0`,
  row: z.object({ balance: z.string() }),
})

/** States of one vault at moments. */
export const ammStatesAt = statesAtTimes({
  name: 'amm_states',
  table: 'amm_state',
  key: 'vault = {vault:String}',
  columns: COLUMNS,
  row: state,
})

/** SQL of the chains (`chain_id`) on which {accounts} ever held shares. */
export const AMM_HELD = 'SELECT chain_id FROM amm_share WHERE holder IN {accounts:Array(String)}'

/** Those of {vaults} of which any of {accounts} ever held shares. */
export const ammHeld = defineQuery({
  name: 'amm_held',
  sql: `SELECT DISTINCT vault FROM amm_share WHERE ${VISIBLE} AND vault IN {vaults:Array(String)} AND holder IN {accounts:Array(String)}`,
  row: z.object({ vault: z.string() }),
})

/**
 * By block up to {to} how many shares of {vaults} each account held after it. `is_paid`: as many as it moved came to be, or
 * were given back, in that block.
 */
export const ammSharesByBlock = defineQuery({
  name: 'amm_shares_by_block',
  sql: `SELECT vault, account, block, at, toString(held) AS balance, (vault, block, abs(moved)) IN (
      SELECT vault, block_number, shares FROM amm_flow
      WHERE ${VISIBLE} AND vault IN {vaults:Array(String)} AND kind IN ('deposit', 'withdraw')) AS is_paid
    FROM (
      SELECT vault, holder AS account, block_number AS block, toUnixTimestamp(max(timestamp)) AS at, argMax(s.balance, position) AS held,
        sum(delta) AS moved
      FROM amm_share AS s FINAL
      WHERE ${VISIBLE} AND vault IN {vaults:Array(String)} AND holder IN {accounts:Array(String)} AND timestamp <= toDateTime({to:UInt32}, 'UTC')
      GROUP BY vault, account, block)
    ORDER BY block LIMIT {limit:UInt32}`,
  row: z.object({
    vault: z.string(),
    account: z.string(),
    block: uint,
    at: uint,
    balance: z.string(),
    is_paid: z.number(),
  }),
})
