import { columns, defineQuery, uint, z } from '../../moment/query.ts'
import { VISIBLE, VISIBLE_ON_CHAIN } from '../../moment/visible.ts'

const hex = z.string().transform(text => text as `0x${string}`)

const sent = columns('bridge_sent', [
  'chain_id',
  'tx_hash',
  'log_index',
  'recipient',
  'depositor',
  'token',
  'amount',
  'source_domain',
  'destination_domain',
  'transfer_key',
  'message_hash',
])

const sentRow = z.object({
  ...sent.row,
  tx_hash: hex,
  recipient: hex,
  depositor: hex,
  token: hex,
  amount: z.string().transform(BigInt),
  transfer_key: hex,
  message_hash: hex,
  /** 1 for the oldest burn of the same key. */
  place: uint,
  /** Receipts of the key, and their nonces. */
  received: uint,
  nonces: z.array(hex),
})
export type SentRow = z.infer<typeof sentRow>

const COLUMNS = `${sent.list()}, position, timestamp, protocol`

/** Burns with how many of the same key there are, and how many were received. */
const withReceipts = (burns: string, rest: string) => `
  WITH sent AS (${burns})
  SELECT ${sent.select('sent')},
    sent.place AS place, arrived.received AS received, arrived.nonces AS nonces
  FROM (
    SELECT *, row_number() OVER (PARTITION BY source_domain, destination_domain, transfer_key ORDER BY position) AS place,
      count() OVER (PARTITION BY source_domain, destination_domain, transfer_key) AS burns
    FROM sent
  ) AS sent
  LEFT JOIN (
    SELECT r.source_domain AS source_domain, d.domain AS domain, r.transfer_key AS transfer_key, count() AS received, groupArray(r.nonce) AS nonces
    FROM (
      SELECT protocol, source_domain, chain_id, transfer_key, nonce FROM bridge_received FINAL
      WHERE transfer_key IN (SELECT transfer_key FROM sent) AND ${VISIBLE}
    ) AS r
    INNER JOIN bridge_domains AS d ON d.protocol = r.protocol AND d.chain_id = r.chain_id
    GROUP BY r.source_domain, d.domain, r.transfer_key
  ) AS arrived ON sent.source_domain = arrived.source_domain AND sent.destination_domain = arrived.domain
    AND sent.transfer_key = arrived.transfer_key
  ${rest}`

/** Burns of a wallet or for it whose key has more burns than receipts: the newest, at most {limit}. */
export const inTransitQuery = defineQuery({
  name: 'transfers in transit',
  sql: withReceipts(
    `SELECT ${COLUMNS} FROM bridge_sent FINAL WHERE recipient = {wallet:String} AND ${VISIBLE}
    UNION ALL
    SELECT ${COLUMNS} FROM bridge_sent FINAL WHERE depositor = {wallet:String} AND recipient != {wallet:String} AND ${VISIBLE}`,
    `WHERE sent.burns > arrived.received
  ORDER BY sent.timestamp DESC, sent.chain_id, sent.log_index, sent.position
  LIMIT {limit:UInt32}`,
  ),
  row: sentRow,
})

/** Burns of one transaction, by log. */
export const burnsOfTransactionQuery = defineQuery({
  name: 'burns of a transaction',
  sql: withReceipts(
    `SELECT ${COLUMNS} FROM bridge_sent FINAL
    WHERE transfer_key IN (SELECT transfer_key FROM bridge_sent WHERE tx_hash = {transaction:String} AND ${VISIBLE_ON_CHAIN})
      AND ${VISIBLE_ON_CHAIN}`,
    'WHERE sent.tx_hash = {transaction:String} ORDER BY sent.log_index',
  ),
  row: sentRow,
})
