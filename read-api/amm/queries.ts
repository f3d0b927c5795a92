import { columns, defineQuery, rowOf, uint, z } from '../moment/query.ts'
import { statesAtTimes } from '../moment/states-at.ts'
import { newest, VISIBLE_ON_CHAIN as VISIBLE } from '../moment/visible.ts'

const state = columns(
  'amm_state',
  [
    'total0',
    'total1',
    'supply',
    'mean_tick',
    'base_liquidity',
    'base_lower',
    'base_upper',
    'limit_liquidity',
    'limit_lower',
    'limit_upper',
  ],
  { root: 'sqrt_price_x96' },
)
const vault = columns('amm_vault', ['vault', 'protocol', 'factory', 'creator'])
const description = columns('amm_description', [
  'name',
  'symbol',
  'decimals',
  'token0',
  'token1',
  'takes_token0',
  'takes_token1',
])

/** The vaults of liquidity of one chain as of {p}. */
export const ammVaults = defineQuery({
  name: 'amm_vaults',
  sql: `SELECT ${vault.select('v')}, ${description.select('d')}
    FROM (${newest('amm_vault', 'vault')}) AS v
    INNER JOIN (${newest('amm_description', 'vault')}) AS d ON v.vault = d.vault
    ORDER BY vault`,
  row: z.object({ ...vault.row, ...description.row }),
})
export type AmmVaultRow = z.output<typeof ammVaults.row>

const sampled = columns('amm_state', ['vault'], { sampled_at: 'timestamp' })

/** The last state of each vault in [since, until], unix seconds. Integers wider than 64 bits come as text. */
export const ammStates = defineQuery({
  name: 'amm_states',
  sql: `SELECT ${sampled.select('s')}, ${state.select('s')} FROM (${newest(
    'amm_state',
    'vault',
    " AND timestamp >= toDateTime({since:UInt32}, 'UTC') AND timestamp <= toDateTime({until:UInt32}, 'UTC')",
  )}) AS s`,
  row: z.object({ ...sampled.row, ...state.row }),
})
export type AmmStateRow = z.output<typeof ammStates.row>

/** Shares that an account holds of a vault. */
export const ammBalance = defineQuery({
  name: 'amm_balance',
  sql: `SELECT toString(argMax(balance, position)) AS balance FROM amm_share
    WHERE ${VISIBLE} AND vault = {vault:String} AND holder = {holder:String} HAVING count() > 0`,
  row: rowOf('amm_share', ['balance']),
})

/** States of one vault at moments. */
export const ammStatesAt = statesAtTimes({
  name: 'amm_states',
  key: 'vault = {vault:String}',
  columns: state,
})

/** SQL of the chains (`chain_id`) on which {accounts} ever held shares. */
export const AMM_HELD = 'SELECT chain_id FROM amm_share WHERE holder IN {accounts:Array(String)}'

/** Those of {vaults} of which any of {accounts} ever held shares. */
export const ammHeld = defineQuery({
  name: 'amm_held',
  sql: `SELECT DISTINCT vault FROM amm_share WHERE ${VISIBLE} AND vault IN {vaults:Array(String)} AND holder IN {accounts:Array(String)}`,
  row: rowOf('amm_share', ['vault']),
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
    ORDER BY block, vault, account LIMIT {limit:UInt32}`,
  row: rowOf('amm_share', ['vault', 'balance'], { account: 'holder', block: 'block_number' }).extend({
    at: uint,
    is_paid: z.number(),
  }),
})
