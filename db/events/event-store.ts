import { once } from 'node:events'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { VaultlogError } from '../process/errors.ts'
import type { StreamKind } from '../streams.ts'
import { DetachedError } from './chain-errors.ts'
import { encodeEventData } from './event-json.ts'
import { PACKED, type PackKeys, packsOf } from './packs.ts'
import type { DomainEvent } from './vocabulary.ts'

/** Identity of a block. timestamp in unix seconds. */
export interface BlockRef {
  number: number
  hash: string
  timestamp: number
}

export interface BlockEvents {
  block: BlockRef
  events: DomainEvent[]
}

/** The stream of curated facts; those of chains of the API are numbered by chain id. */
export const REGISTRY_STREAM = 0

export async function registerStream(
  db: pg.Pool | pg.PoolClient,
  id: number,
  name: string,
  kind: StreamKind,
): Promise<void> {
  await db.query('SELECT register_stream($1, $2, $3)', [id, name, kind])
  const { rows } = await db.query<{ partition: string; attached: boolean }>(
    `SELECT relname AS partition, relispartition AS attached FROM pg_class
     WHERE oid = to_regclass('event_log_' || replace($1::int::text, '-', 'm'))`,
    [id],
  )
  const [own] = rows
  if (own && !own.attached) throw new DetachedError(name, own.partition, id)
}

export class UnknownStreamError extends VaultlogError {
  readonly code = 'UNKNOWN_STREAM'
  constructor(stream: number) {
    super(
      `Stream ${stream} is not registered in this event store. Start its processor once, or check the database URL.`,
    )
  }
}

/** Locks the stream for this transaction and gives its head: whoever appends is alone (invariant 3). */
export async function lockStreamHead(tx: pg.PoolClient, stream: number): Promise<number> {
  const { rows } = await tx.query<{ head: number }>('SELECT head FROM stream WHERE id = $1 FOR UPDATE', [
    stream,
  ])
  const [row] = rows
  if (!row) throw new UnknownStreamError(stream)
  return row.head
}

/** Rows that are sent at once. */
const CHUNK_BYTES = 1 << 18

/**
 * Appends blocks' events at the positions after `head` and gives the new head. The caller holds the stream's lock
 * and stores the new head in the same transaction.
 *
 * @param keys of who appends to this stream again and again; what is told by what was stored before costs less
 */
export async function appendEvents(
  tx: pg.PoolClient,
  stream: number,
  head: number,
  blocks: readonly BlockEvents[],
  keys: PackKeys = new Map(),
): Promise<number> {
  let position = head
  const count = blocks.reduce((sum, { events }) => sum + events.length, 0)
  if (count === 0) return head
  const packs = await packsOf(tx, stream, head, blocks, keys)
  const copy = tx.query(
    copyFrom(
      'COPY event_log (stream, position, type, protocol, block_number, block_hash, block_time, tx_hash, log_index, contract, data) FROM STDIN',
    ),
  )
  const failed = new Promise<never>((_, reject) => copy.once('error', reject))
  failed.catch(() => {})
  let chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let length = 0
  const send = async (bytes: Buffer) => {
    if (!copy.write(bytes)) await Promise.race([once(copy, 'drain'), failed])
  }
  for (const { block, events } of blocks) {
    const middle = `\t${block.number}\t\\\\x${block.hash.slice(2)}\t${block.timestamp}\t`
    for (let i = 0; i < events.length; ) {
      const event = events[i]
      if (!event) break
      const pack = packs.get(position)
      i += pack?.count ?? 1
      position += pack?.count ?? 1
      const row = pack
        ? `${stream}\t${position}\tPacked\t${event.protocol ?? ''}${middle}\\N\t\\N\t\\N\t${copyText(pack.data)}\n`
        : `${stream}\t${position}\t${event.type}\t${event.protocol ?? ''}${middle}${bytea(event.transactionHash)}\t${
            event.logIndex ?? '\\N'
          }\t${bytea(event.contract)}\t${copyText(encodeEventData(event.data))}\n`
      // UTF-8 has at most three bytes for each of a string's units. Joined as strings, rows cost three times the work.
      if (length + 3 * row.length > CHUNK_BYTES) {
        await send(chunk.subarray(0, length))
        chunk = Buffer.allocUnsafe(CHUNK_BYTES)
        length = 0
      }
      if (3 * row.length > CHUNK_BYTES) await send(Buffer.from(row))
      else length += chunk.write(row, length)
    }
  }
  copy.end(chunk.subarray(0, length))
  await Promise.race([once(copy, 'finish'), failed])
  return position
}

function bytea(hex: string | undefined): string {
  return hex ? `\\\\x${hex.slice(2)}` : '\\N'
}

/** Text as COPY wants it. JSON has no raw control characters, so only its backslashes matter. */
function copyText(json: string): string {
  return json.includes('\\') ? json.replaceAll('\\', '\\\\') : json
}

/** A stored event, data as JSON (see event-json.ts for the way back to typed values). */
export interface StoredEvent {
  stream: number
  position: number
  type: DomainEvent['type']
  /** Empty where no protocol told of it. */
  protocol: string
  block_number: number
  block_hash: string
  block_time: number
  tx_hash: string | null
  log_index: number | null
  contract: string | null
  data: Record<string, unknown>
}

const COLUMNS = `stream, position, type, protocol, block_number, '0x' || encode(block_hash, 'hex') AS block_hash, block_time,
  '0x' || encode(tx_hash, 'hex') AS tx_hash, log_index, '0x' || encode(contract, 'hex') AS contract, data`

/** Of each stream the event at a position, where there is one. */
export async function readEventsAt(
  db: pg.Pool,
  positions: ReadonlyMap<number, number>,
): Promise<StoredEvent[]> {
  const { rows } = await db.query<StoredEvent>(
    `SELECT ${COLUMNS} FROM unnest($1::int[], $2::bigint[]) AS asked (of_stream, at), LATERAL stored_events(of_stream, at - 1, at)`,
    [[...positions.keys()], [...positions.values()]],
  )
  return rows
}

/** Events of a stream with `after` < position ≤ `to`, ascending, at most `limit`. */
export async function readEvents(
  db: pg.Pool | pg.PoolClient,
  stream: number,
  range: { after: number; to?: number; limit?: number; types?: readonly string[] },
): Promise<StoredEvent[]> {
  // Types that are in no pack have indexes of their own.
  const mayBePacked = range.types?.some(type => PACKED.has(type)) ?? true
  const [from, order] = mayBePacked
    ? ['stored_events($1, $2, $3) WHERE true', 'row_position, position']
    : ['event_log WHERE stream = $1 AND position > $2 AND position <= $3', 'position']
  const { rows } = await db.query<StoredEvent>(
    `SELECT ${COLUMNS} FROM ${from} AND ($5::text[] IS NULL OR type = ANY ($5))
     ORDER BY ${order} LIMIT $4`,
    [stream, range.after, range.to ?? Number.MAX_SAFE_INTEGER, range.limit ?? null, range.types ?? null],
  )
  return rows
}

/** Accounts that ever had collateral in a market which is the contract itself (Compound v3): whoever owes is one of them. */
export async function readCollateralHolders(
  db: pg.Pool,
  stream: number,
  contract: string,
): Promise<string[]> {
  const { rows } = await db.query<{ account: string }>(
    `SELECT DISTINCT coalesce(data->>'onBehalf', data->>'to') AS account FROM event_log
     WHERE stream = $1 AND contract = decode(substr($2, 3), 'hex') AND type IN ('CollateralSupplied', 'CollateralTransferred')`,
    [stream, contract],
  )
  return rows.map(({ account }) => account)
}

/** What accounts had or owed of the base asset of a Comet when it was last read, before interest. */
export async function readPrincipals(
  db: pg.Pool,
  stream: number,
  contract: string,
): Promise<Map<string, bigint>> {
  const { rows } = await db.query<{ account: string; principal: string }>(
    `WITH gone AS (
       SELECT int8range((data->>'fromPosition')::bigint, (data->>'toPosition')::bigint, '[]') AS positions
       FROM event_log WHERE stream = $1 AND type = 'BlockRetracted')
     SELECT DISTINCT ON (data->>'account') data->>'account' AS account, data->>'principal' AS principal
     FROM event_log e
     WHERE stream = $1 AND contract = decode(substr($2, 3), 'hex') AND type = 'PrincipalSampled'
       AND NOT EXISTS (SELECT FROM gone WHERE e.position <@ gone.positions)
     ORDER BY data->>'account', position DESC`,
    [stream, contract],
  )
  return new Map(rows.map(({ account, principal }) => [account, BigInt(principal)]))
}

/** Appends facts that belong to no block (registry, off-chain prices) to a stream; gives the new head. */
export async function appendFacts(
  tx: pg.PoolClient,
  stream: number,
  events: DomainEvent[],
  recordedAt: number,
): Promise<number> {
  const head = await lockStreamHead(tx, stream)
  const block = {
    number: head + 1,
    hash: `0x${(head + 1).toString(16).padStart(64, '0')}`,
    timestamp: recordedAt,
  }
  const next = await appendEvents(tx, stream, head, [{ block, events }])
  await tx.query(
    'UPDATE stream SET head = $2, head_height = $2, final_height = $2, head_time = $3, updated_at = clock_timestamp() WHERE id = $1',
    [stream, next, recordedAt],
  )
  return next
}
