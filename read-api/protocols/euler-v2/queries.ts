import { lendingEventRow } from '../../lending/queries.ts'
import { columns, defineQuery, rowOf, z } from '../../moment/query.ts'
import { newest, VISIBLE_ON_CHAIN as VISIBLE } from '../../moment/visible.ts'

/** Euler v2 of one chain as of {p}. Integers wider than 64 bits come as text. */

const ltv = columns('evk_ltv', [
  'vault',
  'collateral',
  'borrow_ltv_bps',
  'liquidation_ltv_bps',
  'initial_liquidation_ltv_bps',
  'target_at',
  'ramp_seconds',
])

export const evkLtvs = defineQuery({
  name: 'evk_ltvs',
  sql: `SELECT ${ltv.select()} FROM (${newest('evk_ltv', 'vault, collateral')}) ORDER BY vault, collateral`,
  row: z.object(ltv.row),
})
export type EvkLtvRow = z.output<typeof evkLtvs.row>

/** What a vault says of itself. */
export const evkStatus = columns(
  'evk_status',
  ['total_shares', 'total_borrows', 'accumulated_fees', 'cash'],
  { accumulator: 'accumulator_ray', interest_rate: 'interest_rate_ray' },
)
const status = columns('evk_status', ['vault'], { updated_at: 'timestamp' })
const total = columns('evk_total', ['owed'], { owed_accumulator: 'accumulator_ray' })

export const evkVaults = defineQuery({
  name: 'evk_vaults',
  sql: `SELECT ${status.select('s')}, ${evkStatus.select('s')}, ${total.select('t')}
    FROM (${newest('evk_status', 'vault')}) AS s LEFT JOIN (${newest('evk_total', 'vault')}) AS t ON s.vault = t.vault`,
  row: z.object({ ...status.row, ...evkStatus.row, ...total.row }),
})
export type EvkVaultRow = z.output<typeof evkVaults.row>

/** Operations that vaults' governors have switched off. */
export const evkPauses = defineQuery({
  name: 'evk_pauses',
  sql: `SELECT source AS vault, key FROM (
      SELECT source, key, argMax(value, position) AS last FROM lending_setting
      WHERE ${VISIBLE} AND protocol = 'euler-v2' AND market = source AND endsWith(key, 'Paused') GROUP BY source, key)
    WHERE last = '1'`,
  row: rowOf('lending_setting', ['key'], { vault: 'source' }),
})

/** Addresses that the accounts of {wallets} may have: they differ in the last byte. */
const ACCOUNTS_OF_WALLETS = `(SELECT concat(prefix, lower(hex(toUInt8(n)))) FROM evk_owner ARRAY JOIN range(256) AS n
  WHERE ${VISIBLE} AND owner IN {wallets:Array(String)})`

export const evkSubAccounts = defineQuery({
  name: 'evk_sub_accounts',
  sql: `SELECT DISTINCT account FROM (
      SELECT account FROM evk_enabled WHERE ${VISIBLE} AND account IN ${ACCOUNTS_OF_WALLETS}
      UNION ALL
      SELECT account FROM account_vault WHERE chain_id = {chain:UInt32} AND account IN ${ACCOUNTS_OF_WALLETS})
    WHERE account NOT IN {wallets:Array(String)}
    ORDER BY account`,
  row: rowOf('evk_enabled', ['account']),
})

export const evkDebt = columns('evk_debt', ['owed'], { accumulator: 'accumulator_ray' })

export const evkDebts = defineQuery({
  name: 'evk_debts',
  sql: `SELECT account, vault, ${evkDebt.fromTuple('last')}
    FROM (SELECT account, vault, argMax((${evkDebt.list()}), position) AS last FROM evk_debt
      WHERE ${VISIBLE} AND account IN {accounts:Array(String)} GROUP BY account, vault)`,
  row: rowOf('evk_debt', ['account', 'vault']).extend(evkDebt.row),
})

export const evkEnabled = defineQuery({
  name: 'evk_enabled',
  sql: `SELECT account, role, vault, argMax(enabled, position) AS enabled FROM evk_enabled
    WHERE ${VISIBLE} AND account IN {accounts:Array(String)} GROUP BY account, role, vault`,
  row: rowOf('evk_enabled', ['account', 'vault', 'enabled']).extend({
    role: z.enum(['collateral', 'controller']),
  }),
})

export const evkShares = defineQuery({
  name: 'evk_shares',
  sql: `SELECT holder AS account, vault, toString(argMax(balance, position)) AS shares FROM balance
    WHERE ${VISIBLE} AND vault IN {vaults:Array(String)} AND holder IN {accounts:Array(String)} GROUP BY vault, holder`,
  row: rowOf('balance', ['vault'], { account: 'holder', shares: 'balance' }),
})

/**
 * What accounts did with a vault that lends or secures: its loans and repayments, deposits and redemptions, and what a
 * liquidation took, shares at what they were worth at the end of its block.
 */
export const evkEvents = defineQuery({
  name: 'evk_events',
  sql: `WITH loans AS (
      SELECT account, timestamp, position, block_number, event_type, assets, tx_hash, log_index, market FROM lending_event FINAL
      WHERE ${VISIBLE} AND account IN {accounts:Array(String)} AND contract = {lender:String}),
    worth AS (
      SELECT vault, block_number AS block, argMax((total_assets, total_supply), position) AS totals FROM vault_sample
      WHERE ${VISIBLE} AND vault = {vault:String} AND total_assets IS NOT NULL AND total_supply IS NOT NULL
      GROUP BY vault, block)
    SELECT account, toUnixTimestamp(timestamp) AS at, block_number, event_type, toString(assets) AS assets, tx_hash, log_index FROM (
      SELECT account, timestamp, position, block_number, event_type, assets, tx_hash, log_index FROM loans
      WHERE {vault:String} = {lender:String} AND market = {lender:String}
      UNION ALL
      SELECT account, timestamp, position, block_number, 'liquidation' AS event_type,
        intDiv(l.shares * (assumeNotNull(tupleElement(w.totals, 1)) + {virtual:UInt64}),
          assumeNotNull(tupleElement(w.totals, 2)) + {virtual:UInt64}) AS assets, tx_hash, log_index
      FROM (SELECT *, assets AS shares, {vault:String} AS vault FROM loans
        WHERE {vault:String} != {lender:String} AND event_type = 'liquidation' AND market = {vault:String}) AS l
      ASOF INNER JOIN worth AS w ON l.vault = w.vault AND l.block_number >= w.block
      UNION ALL
      SELECT account, timestamp, position, block_number, if(kind = 'deposit', 'supply', 'withdraw') AS event_type, assets, tx_hash, log_index
      FROM flow FINAL WHERE ${VISIBLE} AND vault = {vault:String} AND account IN {accounts:Array(String)})
    ORDER BY position`,
  row: lendingEventRow.extend({ account: z.string() }),
})
