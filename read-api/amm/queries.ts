import { defineQuery, uint, z } from '../moment/query.ts'
import { VISIBLE_ON_CHAIN as VISIBLE } from '../moment/visible.ts'

/** Rows of the newest visible position of each vault. */
const newest = (
  table: string,
  where = '',
) => `SELECT * FROM ${table} WHERE ${VISIBLE}${where} AND position IN (
    SELECT max(position) FROM ${table} WHERE ${VISIBLE}${where} GROUP BY vault) LIMIT 1 BY vault`

const STATE = `toUnixTimestamp(s.timestamp) AS sampled_at, toString(s.total0) AS total0, toString(s.total1) AS total1,
      toString(s.supply) AS supply, toString(s.sqrt_price_x96) AS root, s.mean_tick AS mean_tick,
      toString(s.base_liquidity) AS base_liquidity, s.base_lower AS base_lower, s.base_upper AS base_upper,
      toString(s.limit_liquidity) AS limit_liquidity, s.limit_lower AS limit_lower, s.limit_upper AS limit_upper`

const tick = z.number().nullable()
const state = {
  sampled_at: uint,
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
  row: z.object({ vault: z.string(), ...state }),
})
export type AmmStateRow = z.output<typeof ammStates.row>

/** Shares that an account holds of a vault. */
export const ammBalance = defineQuery({
  name: 'amm_balance',
  sql: `SELECT toString(argMax(balance, position)) AS balance FROM amm_share
    WHERE ${VISIBLE} AND vault = {vault:String} AND holder = {holder:String} HAVING count() > 0`,
  row: z.object({ balance: z.string() }),
})
