import { columns, defineQuery, rowOf, uint, z } from '../moment/query.ts'
import { VISIBLE_ON_CHAIN } from '../moment/visible.ts'
import { shareState } from '../vaults/share-value.ts'

/**
 * One account in one vault, with {chain}, {p}, {vault} and {account}. Blocks in ({after}, {until}]; several blocks may
 * have one timestamp, so the times of the two, {since} and {at}, both inclusive, only say where to look.
 */
const OF_ACCOUNT = `${VISIBLE_ON_CHAIN} AND vault = {vault:String}`
const IN_BLOCKS = `block_number > {after:UInt64} AND block_number <= {until:UInt64}
  AND timestamp >= toDateTime({since:UInt32}, 'UTC') AND timestamp <= toDateTime({at:UInt32}, 'UTC')`

/**
 * By block: how many shares the account gained, and how many of them its deposits and redemptions explain. What is
 * left over came or went as shares.
 */
const CHANGES = `SELECT block_number, sum(delta) - sum(minted) AS sent, sum(deposited) AS deposited, sum(withdrawn) AS withdrawn
  FROM (
    SELECT block_number, delta, toInt256(0) AS minted, toUInt256(0) AS deposited, toUInt256(0) AS withdrawn
    FROM balance WHERE ${OF_ACCOUNT} AND holder = {account:String} AND ${IN_BLOCKS}
    UNION ALL
    SELECT block_number, toInt256(0), if(kind = 'deposit', toInt256(shares), -toInt256(shares)),
      if(kind = 'deposit', assets, toUInt256(0)), if(kind = 'redeem', assets, toUInt256(0))
    FROM flow WHERE ${OF_ACCOUNT} AND account = {account:String} AND ${IN_BLOCKS}
  )
  GROUP BY block_number`

export const flowTotals = defineQuery({
  name: 'flow_totals',
  sql: `SELECT toString(sum(deposited)) AS deposited, toString(sum(withdrawn)) AS withdrawn, countIf(sent != 0) AS transfers
    FROM (${CHANGES})`,
  row: z.object({ deposited: z.string(), withdrawn: z.string(), transfers: uint }),
})

/** States with a share price by block, and {whole_share} of what was paid for shares in blocks whose end has none. */
const STATES = `SELECT 1 AS one, block_number, ${shareState.list()} FROM vault_sample
  WHERE ${OF_ACCOUNT} AND share_price IS NOT NULL
  UNION ALL
  SELECT 1 AS one, block_number, NULL, NULL, intDiv(sum(assets) * {whole_share:UInt256}, sum(shares)), NULL, 0
  FROM flow
  WHERE ${OF_ACCOUNT} AND (timestamp, block_number) IN (
    SELECT timestamp, block_number FROM vault_sample WHERE ${OF_ACCOUNT} AND share_price IS NULL AND share_price_raw IS NOT NULL)
  GROUP BY block_number HAVING sum(shares) > 0`

/**
 * By block, shares that came less those that went, and the state of the vault they are valued at: the sample of the
 * block, else the last one before it. Null: there is none before. In a block whose end has no share, what was deposited and
 * redeemed in it says the price.
 */
export const sharesSent = defineQuery({
  name: 'shares_sent',
  sql: `SELECT toString(changes.sent) AS sent, ${shareState.select('samples')}
    FROM (SELECT 1 AS one, block_number, sent FROM (${CHANGES}) WHERE sent != 0) AS changes
    ASOF LEFT JOIN (${STATES}) AS samples ON changes.one = samples.one AND changes.block_number >= samples.block_number`,
  row: z.object({ sent: z.string(), ...shareState.row }),
})

/** The state of the vault that shares which moved in each of {blocks} are valued at, as sharesSent has it. */
export const statesAfterBlocks = defineQuery({
  name: 'states_after_blocks',
  sql: `SELECT asked.block_number AS block_number, ${shareState.select('samples')}
    FROM (SELECT 1 AS one, arrayJoin({blocks:Array(UInt64)}) AS block_number) AS asked
    ASOF LEFT JOIN (${STATES}) AS samples ON asked.one = samples.one AND asked.block_number >= samples.block_number`,
  row: rowOf('vault_sample', ['block_number']).extend(shareState.row),
})

const sample = columns('vault_sample', ['block_number'], { at: 'timestamp' })
const sampleRow = z.object({ ...sample.row, ...shareState.row })
export type ReturnsSample = z.output<typeof sampleRow>

const SAMPLE = `SELECT ${sample.select()}, ${shareState.select('samples')} FROM vault_sample AS samples
  WHERE ${OF_ACCOUNT} AND samples.share_price_raw IS NOT NULL`

/** The last sample with a share price at or before {at}. */
export const sampleBefore = defineQuery({
  name: 'sample_before',
  sql: `${SAMPLE} AND timestamp <= toDateTime({at:UInt32}, 'UTC') ORDER BY timestamp DESC, position DESC LIMIT 1`,
  row: sampleRow,
})

export const firstSample = defineQuery({
  name: 'first_sample',
  sql: `${SAMPLE} ORDER BY timestamp, position LIMIT 1`,
  row: sampleRow,
})

/** The account's balance after block {until}. */
export const balanceAfter = defineQuery({
  name: 'balance_after',
  sql: `SELECT toString(balance) AS balance FROM balance AS changes
    WHERE ${OF_ACCOUNT} AND holder = {account:String} AND block_number <= {until:UInt64}
      AND timestamp <= toDateTime({at:UInt32}, 'UTC')
    ORDER BY timestamp DESC, position DESC LIMIT 1`,
  row: rowOf('balance', ['balance']),
})

const FLOWS = `FROM flow WHERE ${OF_ACCOUNT} AND account = {account:String}`
const flow = columns(
  'flow',
  ['kind', 'position', 'block_number', 'assets', 'shares', 'tx_hash', 'log_index'],
  { at: 'timestamp' },
)

/** Deposits and redemptions of the account. */
export const positionFlows = defineQuery({
  name: 'position_flows',
  sql: `SELECT ${flow.select()} ${FLOWS}`,
  row: z.object({ ...flow.row, kind: z.enum(['deposit', 'redeem']) }),
})

/** Share prices at the end of the blocks of these, where they were sampled and there was a share: asset base units. */
export const flowPrices = defineQuery({
  name: 'flow_prices',
  sql: `SELECT block_number, toString(assumeNotNull(argMax(share_price_raw, position))) AS price FROM vault_sample
    WHERE ${OF_ACCOUNT} AND share_price IS NOT NULL AND timestamp IN (SELECT timestamp ${FLOWS})
    GROUP BY block_number`,
  row: rowOf('vault_sample', ['block_number']).extend({ price: z.string() }),
})

const claim = columns('reward_claim', ['position', 'block_number', 'tx_hash', 'log_index', 'token'], {
  at: 'timestamp',
  assets: 'amount',
})

/** Rewards that the vault itself paid the account, in whatever token, and those of others in its {asset}. */
export const rewardClaims = defineQuery({
  name: 'reward_claims',
  sql: `SELECT ${claim.select()}, distributor = {vault:String} AS is_own
    FROM reward_claim
    WHERE ${VISIBLE_ON_CHAIN} AND account = {account:String} AND amount > 0
      AND (distributor = {vault:String} OR token = {asset:String})`,
  row: z.object({ ...claim.row, is_own: z.number() }),
})

/** When the account first held shares of the vault. */
export const heldSince = defineQuery({
  name: 'held_since',
  sql: `SELECT toUnixTimestamp(timestamp) AS at FROM balance
    WHERE ${OF_ACCOUNT} AND holder = {account:String} ORDER BY timestamp LIMIT 1`,
  row: rowOf('balance', [], { at: 'timestamp' }),
})

/** The vault's share price after each of {blocks}, asset base units: the last that was read by then. */
export const pricesAfterBlocks = defineQuery({
  name: 'prices_after_blocks',
  sql: `SELECT asked.block_number AS block_number, toString(samples.price) AS price
    FROM (SELECT 1 AS one, arrayJoin({blocks:Array(UInt64)}) AS block_number) AS asked
    ASOF JOIN (
      SELECT 1 AS one, block_number, assumeNotNull(share_price_raw) AS price FROM vault_sample
      WHERE ${OF_ACCOUNT} AND share_price IS NOT NULL
    ) AS samples ON asked.one = samples.one AND asked.block_number >= samples.block_number`,
  row: rowOf('vault_sample', ['block_number']).extend({ price: z.string() }),
})
