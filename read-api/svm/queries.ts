import { defineQuery, uint, z } from '../moment/query.ts'
import { statesAtTimes } from '../moment/states-at.ts'
import { VISIBLE_ON_CHAIN as VISIBLE } from '../moment/visible.ts'

/** Rows of the newest visible position of each vault or mint. */
const newest = (
  table: string,
  key: 'vault' | 'mint',
) => `SELECT * FROM ${table} WHERE ${VISIBLE} AND position IN (
    SELECT max(position) FROM ${table} WHERE ${VISIBLE} GROUP BY ${key}) LIMIT 1 BY ${key}`

/** The vaults of a chain of Solana's kind as of {p}, with what was last read of them. Integers wider than 64 bits come as text. */
export const svmVaults = defineQuery({
  name: 'svm_vaults',
  sql: `SELECT v.vault AS vault, v.protocol AS protocol, v.program AS program, v.share_mint AS share_mint, v.asset_mint AS asset_mint,
      v.authority AS authority, if(s.vault = '', NULL, toUnixTimestamp(s.timestamp)) AS sampled_at,
      toString(s.total_assets) AS total_assets, toString(s.idle_assets) AS idle_assets, toString(s.price_assets) AS price_assets, toString(s.price_shares) AS price_shares,
      h.apy_1d AS apy_1d, h.apy_7d AS apy_7d, h.apy_30d AS apy_30d
    FROM (${newest('svm_vault', 'vault')}) AS v
    LEFT JOIN (${newest('svm_vault_sample', 'vault')}) AS s ON v.vault = s.vault
    LEFT JOIN (${newest('svm_vault_hourly', 'vault')}) AS h ON v.vault = h.vault
    ORDER BY vault`,
  row: z.object({
    vault: z.string(),
    protocol: z.string(),
    program: z.string(),
    share_mint: z.string(),
    asset_mint: z.string(),
    authority: z.string(),
    sampled_at: uint.nullable(),
    total_assets: z.string().nullable(),
    /** What withdrawals can be paid of at once. */
    idle_assets: z.string().nullable(),
    price_assets: z.string().nullable(),
    price_shares: z.string().nullable(),
    apy_1d: z.number().nullable(),
    apy_7d: z.number().nullable(),
    apy_30d: z.number().nullable(),
  }),
})
export type SvmVaultRow = z.output<typeof svmVaults.row>

export const svmMints = defineQuery({
  name: 'svm_mints',
  sql: `SELECT mint, decimals, mint_authority, freeze_authority, name, symbol FROM (${newest('svm_mint', 'mint')})`,
  row: z.object({
    mint: z.string(),
    decimals: z.number(),
    mint_authority: z.string(),
    freeze_authority: z.string(),
    name: z.string(),
    symbol: z.string(),
  }),
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
  row: z.object({ mint: z.string(), shares: z.string() }),
})

/** Deposits and withdrawals of a wallet, of one vault or ({vault} empty) of all; the oldest first. */
export const svmEvents = defineQuery({
  name: 'svm_events',
  sql: `SELECT vault, toUnixTimestamp(timestamp) AS at, block_number AS slot, kind, toString(assets) AS assets, toString(shares) AS shares,
      tx_hash, instruction_index
    FROM svm_flow FINAL
    WHERE account = {account:String} AND ${VISIBLE} AND ({vault:String} = '' OR vault = {vault:String})
    ORDER BY position`,
  row: z.object({
    vault: z.string(),
    at: uint,
    slot: z.coerce.string(),
    kind: z.enum(['deposit', 'withdrawal']),
    assets: z.string().nullable(),
    shares: z.string(),
    tx_hash: z.string(),
    instruction_index: z.number(),
  }),
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
    ORDER BY slot LIMIT {limit:UInt32}`,
  row: z.object({
    mint: z.string(),
    holder: z.string(),
    place: z.string(),
    slot: uint,
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
    ORDER BY slot LIMIT {limit:UInt32}`,
  row: z.object({
    vault: z.string(),
    slot: uint,
    at: uint,
    minted: z.string(),
    burned: z.string(),
    deposited: z.string().nullable(),
    withdrawn: z.string().nullable(),
  }),
})
export type SvmFlowRow = z.output<typeof svmFlowsBySlot.row>

const price = {
  columns: { assets: 'toString(s.price_assets)', shares: 'toString(s.price_shares)' },
  row: { assets: z.string(), shares: z.string() },
}

/** What a share was worth by the last sample before each moment in which there was one, and by what the program wrote to its log. */
export const svmSampledPrices = statesAtTimes({
  name: 'svm_sampled_prices',
  table: 'svm_vault_sample',
  key: 'vault = {vault:String} AND price_shares > 0',
  ...price,
})
export const svmLoggedPrices = statesAtTimes({
  name: 'svm_logged_prices',
  table: 'svm_price',
  key: 'vault = {vault:String} AND price_shares > 0',
  ...price,
})
