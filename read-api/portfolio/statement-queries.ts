import { columns, defineQuery, rowOf, uint, z } from '../moment/query.ts'
import { VISIBLE_ON_CHAIN } from '../moment/visible.ts'
import { shareState } from '../vaults/share-value.ts'

const OF_VAULTS = `${VISIBLE_ON_CHAIN} AND vault IN {vaults:Array(String)}`
const UNTIL = `timestamp <= toDateTime({to:UInt32}, 'UTC')`

/**
 * By vault and block what moved for all of {accounts} together up to {to}: shares that one of them gave to another did not move.
 * `delta`: how many more there were after it, for whatever reason.
 */
export const movementsOf = defineQuery({
  name: 'statement_movements',
  sql: `SELECT vault, groupUniqArrayIf(account, change != 0) AS accounts, block_number, toUnixTimestamp(max(time)) AS at, toString(sum(change)) AS delta,
      toString(sum(made)) AS minted, toString(sum(gone)) AS burned, toString(sum(paid)) AS deposited, toString(sum(got)) AS withdrawn
    FROM (
      SELECT vault, holder AS account, block_number, timestamp AS time, delta AS change, toUInt256(0) AS made, toUInt256(0) AS gone,
        toUInt256(0) AS paid, toUInt256(0) AS got
      FROM balance FINAL WHERE ${OF_VAULTS} AND holder IN {accounts:Array(String)} AND ${UNTIL}
      UNION ALL
      SELECT vault, account, block_number, timestamp, toInt256(0), if(kind = 'deposit', shares, toUInt256(0)),
        if(kind = 'redeem', shares, toUInt256(0)), if(kind = 'deposit', assets, toUInt256(0)), if(kind = 'redeem', assets, toUInt256(0))
      FROM flow FINAL WHERE ${OF_VAULTS} AND account IN {accounts:Array(String)} AND ${UNTIL}
    )
    GROUP BY vault, block_number
    ORDER BY vault, block_number
    LIMIT {limit:UInt32}`,
  row: rowOf('balance', ['vault', 'block_number', 'delta'], { at: 'timestamp' }).extend({
    /** Whose shares came or went. */
    accounts: z.array(z.string()),
    minted: z.string(),
    burned: z.string(),
    deposited: z.string(),
    withdrawn: z.string(),
  }),
})
export type MovementRow = z.output<typeof movementsOf.row>

/** Vaults of which any of {accounts} ever held shares: rows of whatever moment. */
export const everHeldVaults = defineQuery({
  name: 'ever_held_vaults',
  sql: 'SELECT DISTINCT chain_id, vault FROM account_vault WHERE account IN {accounts:Array(String)}',
  row: rowOf('account_vault', ['chain_id', 'vault']),
})

const pricedState = rowOf('vault_sample', ['vault']).extend({
  /** Unix seconds of the midnight (UTC) at or after it. */
  midnight: uint,
  ...shareState.row,
})
export type PricedState = z.output<typeof pricedState>

const PRICED = `SELECT vault, intDiv(toUnixTimestamp(timestamp) + 86399, 86400) * 86400 AS midnight, ${shareState.select('samples')}
  FROM vault_sample AS samples
  WHERE ${OF_VAULTS} AND samples.share_price_raw IS NOT NULL`

/** The last state with a share price at or before {at}, no older than {since}. */
export const pricedStatesAt = defineQuery({
  name: 'priced_states_at',
  sql: `${PRICED} AND timestamp <= toDateTime({at:UInt32}, 'UTC') AND timestamp >= toDateTime({since:UInt32}, 'UTC')
    ORDER BY vault, timestamp DESC, position DESC LIMIT 1 BY vault`,
  row: pricedState,
})

/** The same at each midnight after {from} and before {to}, of days in which it was read; ascending. */
export const pricedStatesByDay = defineQuery({
  name: 'priced_states_by_day',
  sql: `SELECT * FROM (
      ${PRICED} AND timestamp > toDateTime({from:UInt32}, 'UTC') AND timestamp < toDateTime({to:UInt32}, 'UTC')
      ORDER BY vault, midnight, timestamp DESC, position DESC LIMIT 1 BY vault, midnight)
    ORDER BY vault, midnight`,
  row: pricedState,
})

const claim = columns('reward_claim', ['token', 'amount', 'source'], { at: 'timestamp' })

/** Rewards paid out to {accounts} after {from}, up to {to}. */
export const rewardsIn = defineQuery({
  name: 'statement_rewards',
  sql: `SELECT ${claim.select('claims')} FROM reward_claim AS claims FINAL
    WHERE ${VISIBLE_ON_CHAIN} AND account IN {accounts:Array(String)} AND claims.amount > 0
      AND timestamp > toDateTime({from:UInt32}, 'UTC') AND ${UNTIL}
    ORDER BY timestamp, position
    LIMIT {limit:UInt32}`,
  row: z.object(claim.row),
})
export type RewardRow = z.output<typeof rewardsIn.row>
