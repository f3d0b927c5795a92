import { columns, defineQuery, rowOf, uint, z } from '../moment/query.ts'
import { statesAtTimes } from '../moment/states-at.ts'
import { newest, VISIBLE_ON_CHAIN as VISIBLE } from '../moment/visible.ts'

const vault = columns('svm_vault', ['vault', 'protocol', 'program', 'share_mint', 'asset_mint', 'authority'])
/** `idle_assets`: what withdrawals can be paid of at once. */
const sample = columns('svm_vault_sample', ['total_assets', 'idle_assets', 'price_assets', 'price_shares'])
const hour = columns('svm_vault_hourly', ['apy_1d', 'apy_7d', 'apy_30d'])

/** The vaults of a chain of Solana's kind as of {p}, with what was last read of them. Integers wider than 64 bits come as text. */
export const svmVaults = defineQuery({
  name: 'svm_vaults',
  sql: `SELECT ${vault.select('v')}, if(s.vault = '', NULL, toUnixTimestamp(s.timestamp)) AS sampled_at, ${sample.select('s')}, ${hour.select('h')}
    FROM (${newest('svm_vault', 'vault')}) AS v
    LEFT JOIN (${newest('svm_vault_sample', 'vault')}) AS s ON v.vault = s.vault
    LEFT JOIN (${newest('svm_vault_hourly', 'vault')}) AS h ON v.vault = h.vault
    ORDER BY vault`,
  row: z.object({ ...vault.row, ...sample.row, ...hour.row, sampled_at: uint.nullable() }),
})
export type SvmVaultRow = z.output<typeof svmVaults.row>

const mint = columns('svm_mint', ['mint', 'decimals', 'mint_authority', 'freeze_authority', 'name', 'symbol'])

export const svmMints = defineQuery({
  name: 'svm_mints',
  sql: `SELECT ${mint.select()} FROM (${newest('svm_mint', 'mint')})`,
  row: z.object(mint.row),
})
export type SvmMintRow = z.output<typeof svmMints.row>

/** What lies in the token account of a farm that a vault names is of those who staked it. */
const NOT_OF_FARMS = `(mint, token_account) NOT IN (SELECT mint, farm_vault FROM svm_farm WHERE ${VISIBLE})`
const IN_NAMED_FARMS = `(mint, farm) IN (SELECT mint, farm FROM svm_farm WHERE ${VISIBLE})`

/**
 * What a wallet has of shares, over all of its token accounts and staked in farms that vaults name.
 */
export const svmBalances = defineQuery({
  name: 'svm_balances',
  sql: `SELECT mint, toString(sum(held)) AS shares FROM (
      SELECT mint, argMax(toInt256(amount), position) AS held FROM svm_balance
      WHERE holder = {account:String} AND ${VISIBLE} AND ${NOT_OF_FARMS}
      GROUP BY mint, token_account
      UNION ALL
      SELECT mint, greatest(argMax(amount, position), toInt256(0)) AS held FROM svm_stake
      WHERE holder = {account:String} AND ${VISIBLE} AND ${IN_NAMED_FARMS}
      GROUP BY mint, stake_account)
    GROUP BY mint HAVING sum(held) > 0`,
  row: rowOf('svm_balance', ['mint']).extend({ shares: z.string() }),
})

const flow = columns('svm_flow', ['vault', 'kind', 'assets', 'shares', 'tx_hash', 'instruction_index'], {
  at: 'timestamp',
  slot: 'block_number',
})

/** Deposits and withdrawals of a wallet, of one vault or ({vault} empty) of all; the oldest first. */
export const svmEvents = defineQuery({
  name: 'svm_events',
  sql: `SELECT ${flow.select()} FROM svm_flow FINAL
    WHERE account = {account:String} AND ${VISIBLE} AND ({vault:String} = '' OR vault = {vault:String})
    ORDER BY timestamp, slot, position`,
  row: z.object({ ...flow.row, slot: z.coerce.string(), kind: z.enum(['deposit', 'withdrawal']) }),
})

const UNTIL = `timestamp <= toDateTime({to:UInt32}, 'UTC')`
const OF_ACCOUNTS = `holder IN {accounts:Array(String)} AND ${VISIBLE} AND ${UNTIL}`

/** By slot up to {to} what each token account and stake of {accounts} had after it. */
export const svmHoldings = defineQuery({
  name: 'svm_holdings',
  sql: `SELECT mint, holder, place, slot, at, toString(held) AS held FROM (
      SELECT mint, holder, token_account AS place, block_number AS slot, toUnixTimestamp(max(timestamp)) AS at,
        argMax(toInt256(amount), position) AS held
      FROM svm_balance WHERE ${OF_ACCOUNTS} AND ${NOT_OF_FARMS}
      GROUP BY mint, holder, place, slot
      UNION ALL
      SELECT mint, holder, stake_account AS place, block_number AS slot, toUnixTimestamp(max(timestamp)) AS at,
        greatest(argMax(amount, position), toInt256(0)) AS held
      FROM svm_stake WHERE ${OF_ACCOUNTS} AND ${IN_NAMED_FARMS}
      GROUP BY mint, holder, place, slot)
    ORDER BY slot, mint, holder, place LIMIT {limit:UInt32}`,
  row: rowOf('svm_balance', ['mint', 'holder'], { slot: 'block_number' }).extend({
    place: z.string(),
    at: uint,
    held: z.string(),
  }),
})
export type SvmHolding = z.output<typeof svmHoldings.row>

/** By slot up to {to} what {accounts} paid in and got; assets are null where an instruction did not say how many. */
export const svmFlowsBySlot = defineQuery({
  name: 'svm_flows_by_slot',
  sql: `SELECT vault, block_number AS slot, toUnixTimestamp(max(timestamp)) AS at,
      toString(sumIf(shares, kind = 'deposit')) AS minted, toString(sumIf(shares, kind = 'withdrawal')) AS burned,
      if(countIf(kind = 'deposit' AND isNull(assets)) > 0, NULL, toString(sumIf(ifNull(assets, 0), kind = 'deposit'))) AS deposited,
      if(countIf(kind = 'withdrawal' AND isNull(assets)) > 0, NULL, toString(sumIf(ifNull(assets, 0), kind = 'withdrawal'))) AS withdrawn
    FROM svm_flow FINAL
    WHERE account IN {accounts:Array(String)} AND ${VISIBLE} AND ${UNTIL}
    GROUP BY vault, slot
    ORDER BY slot, vault LIMIT {limit:UInt32}`,
  row: rowOf('svm_flow', ['vault'], { slot: 'block_number' }).extend({
    at: uint,
    minted: z.string(),
    burned: z.string(),
    deposited: z.string().nullable(),
    withdrawn: z.string().nullable(),
  }),
})
export type SvmFlowRow = z.output<typeof svmFlowsBySlot.row>

/** What a share was worth by the last sample before each moment in which there was one, and by what the program wrote to its log. */
export const svmSampledPrices = statesAtTimes({
  name: 'svm_sampled_prices',
  key: 'vault = {vault:String} AND price_shares > 0',
  columns: columns('svm_vault_sample', [], { assets: 'price_assets', shares: 'price_shares' }),
})
export const svmLoggedPrices = statesAtTimes({
  name: 'svm_logged_prices',
  key: 'vault = {vault:String} AND price_shares > 0',
  columns: columns('svm_price', [], { assets: 'price_assets', shares: 'price_shares' }),
})
