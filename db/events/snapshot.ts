import type pg from 'pg'
import { z } from 'zod'
import { ConfigError, VaultlogError } from '../process/errors.ts'
import { decodeEventData } from './event-json.ts'
import { appendEvents, type BlockEvents, lockStreamHead, registerStream } from './event-store.ts'
import type { PackKeys } from './packs.ts'
import { type DomainEvent, vocabulary } from './vocabulary.ts'
import { lockForTransaction } from './writer-lock.ts'

/**
 * What a processor keeps of its chain beside the events: it goes with them, so that whoever takes them goes on as if they
 * were its own. What projections, replays and comparisons keep is of one installation.
 */
export const CHAIN_STATE = [
  'hot_block',
  'watched_source',
  'older_logs',
  'waiting_contract',
  'log_budget',
  'sampling_round',
  'teaching_type',
  'teaching_event',
  'dead_letter',
] as const

const stateRow = z.object({ table: z.enum(CHAIN_STATE), row: z.record(z.string(), z.unknown()) })
export type StateRow = z.infer<typeof stateRow>

/** How far a stream is. Heights are block numbers (slots on Solana), head_time unix seconds. */
export const streamCursor = z.strictObject({
  head: z.int().positive(),
  final_height: z.int().nonnegative(),
  final_hash: z.string().regex(/^0x[0-9a-f]+$/),
  head_height: z.int().nonnegative(),
  head_hash: z.string(),
  head_time: z.int().nonnegative(),
})
export type StreamCursor = z.infer<typeof streamCursor>

const integer = z.union([z.int(), z.bigint().transform(Number)]).pipe(z.int())
const hex = z.string().regex(/^0x([0-9a-f]{2})*$/)

/** A row of `event_log` as a snapshot has it; data is JSON. */
export const snapshotEvent = z.strictObject({
  position: integer,
  type: z.string(),
  protocol: z.string().regex(/^[a-z0-9-]*$/),
  block_number: integer,
  block_hash: hex,
  block_time: integer,
  tx_hash: hex.nullish(),
  log_index: integer.nullish(),
  contract: hex.nullish(),
  data: z.string(),
})
export type SnapshotEvent = z.infer<typeof snapshotEvent>

export class SnapshotError extends VaultlogError {
  readonly code = 'SNAPSHOT'
}

/** At one moment: the caller's transaction is REPEATABLE READ. @throws ConfigError where nothing final is stored */
export async function readCursor(tx: pg.PoolClient, stream: number, name: string): Promise<StreamCursor> {
  const { rows } = await tx.query<StreamCursor>(
    'SELECT head, final_height, final_hash, head_height, head_hash, head_time FROM stream WHERE id = $1',
    [stream],
  )
  const cursor = streamCursor.safeParse(rows[0])
  if (!cursor.success)
    throw new ConfigError(`Nothing final is stored of ${name}: there is nothing to make a snapshot of.`)
  return cursor.data
}

/** Events with `after` < position ≤ `to`. */
export async function readRows(
  tx: pg.PoolClient,
  stream: number,
  after: number,
  to: number,
): Promise<SnapshotEvent[]> {
  const { rows } = await tx.query<SnapshotEvent>(
    `SELECT position, type, protocol, block_number, '0x' || encode(block_hash, 'hex') AS block_hash, block_time,
            '0x' || encode(tx_hash, 'hex') AS tx_hash, log_index, '0x' || encode(contract, 'hex') AS contract, data::text AS data
     FROM stored_events($1, $2, $3) ORDER BY row_position, position`,
    [stream, after, to],
  )
  return rows
}

/** Rows of CHAIN_STATE, a thousand or so at a time. Dead letters of the read models stay: they are made anew with them. */
export async function* readState(tx: pg.PoolClient, stream: number): AsyncGenerator<StateRow[]> {
  for (const table of CHAIN_STATE) {
    const own = table === 'dead_letter' ? `AND stage IN ('decode', 'inspect', 'sample')` : ''
    await tx.query(
      `DECLARE of_state NO SCROLL CURSOR FOR SELECT to_jsonb(t) - 'id' AS row FROM ${table} t WHERE stream = ${stream} ${own}`,
    )
    for (;;) {
      const { rows } = await tx.query<{ row: Record<string, unknown> }>('FETCH 1000 FROM of_state')
      if (rows.length === 0) break
      yield rows.map(({ row }) => ({ table, row }))
    }
    await tx.query('CLOSE of_state')
  }
}

/** Makes the stream ready to be filled and locks it. @throws ConfigError where it has blocks, SecondWriterError beside its processor */
export async function beginImport(
  tx: pg.PoolClient,
  stream: number,
  name: string,
  kind: 'evm' | 'svm',
): Promise<void> {
  await registerStream(tx, stream, name, kind)
  await lockForTransaction(tx, stream, name)
  await lockStreamHead(tx, stream)
  const { rows: stored } = await tx.query<{ head: number; blocks: number }>(
    'SELECT head, head_height AS blocks FROM stream WHERE id = $1',
    [stream],
  )
  if (stored[0] && (stored[0].head > 0 || stored[0].blocks >= 0))
    throw new ConfigError(
      `${name} has blocks up to ${stored[0].blocks} in this event store. A snapshot goes into one that has none of it.`,
    )
  for (const table of CHAIN_STATE) await tx.query(`DELETE FROM ${table} WHERE stream = $1`, [stream])
}

/** Appends rows that follow `head`, and gives the new head. @throws SnapshotError for what is no event of ours */
export async function importRows(
  tx: pg.PoolClient,
  stream: number,
  head: number,
  rows: readonly unknown[],
  file: string,
  keys?: PackKeys,
): Promise<number> {
  const blocks: BlockEvents[] = []
  let expected = head
  for (const row of rows) {
    expected++
    const parsed = snapshotEvent.safeParse(row)
    if (!parsed.success)
      throw new SnapshotError(
        `${file}: what stands at position ${expected} is no event: ${parsed.error.message}`,
      )
    const { position, block_number, block_hash, block_time } = parsed.data
    if (position !== expected)
      throw new SnapshotError(
        `${file}: position ${expected} is missing; after ${expected - 1} comes ${position}.`,
      )
    const event = eventOf(parsed.data, file)
    const last = blocks.at(-1)
    if (
      last?.block.number === block_number &&
      last.block.hash === block_hash &&
      last.block.timestamp === block_time
    )
      last.events.push(event)
    else
      blocks.push({
        block: { number: block_number, hash: block_hash, timestamp: block_time },
        events: [event],
      })
  }
  return appendEvents(tx, stream, head, blocks, keys)
}

function eventOf(row: SnapshotEvent, file: string): DomainEvent {
  const { type, position, protocol, tx_hash, log_index, contract } = row
  const where = `${file}: the event at position ${position}`
  if (!isEventType(type))
    throw new SnapshotError(`${where} is of type ${type}, which this version of Vaultlog does not know.`)
  let data: Record<string, unknown>
  try {
    data = JSON.parse(row.data) as Record<string, unknown>
    decodeEventData(type, data)
  } catch (error) {
    throw new SnapshotError(`${where} is no ${type}: ${(error as Error).message}`)
  }
  return {
    type,
    contract: contract ?? '',
    // As it is stored: what is decoded from it would be encoded to the same text.
    data,
    ...(protocol ? { protocol } : {}),
    ...(tx_hash ? { transactionHash: tx_hash } : {}),
    ...(log_index === null || log_index === undefined ? {} : { logIndex: log_index }),
  } as unknown as DomainEvent
}

const isEventType = (type: string): type is DomainEvent['type'] => Object.hasOwn(vocabulary, type)

/** @throws SnapshotError for a line that is no row of CHAIN_STATE */
export function parseState(line: string, file: string): StateRow {
  try {
    return stateRow.parse(JSON.parse(line))
  } catch (error) {
    throw new SnapshotError(`${file}: a line is no state of a chain: ${(error as Error).message}`)
  }
}

/** Rows of one table. */
export async function importState(
  tx: pg.PoolClient,
  stream: number,
  table: StateRow['table'],
  rows: readonly StateRow[],
): Promise<void> {
  const { rows: columns } = await tx.query<{ names: string }>(
    `SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 AND is_identity = 'NO'`,
    [table],
  )
  const names = columns[0]?.names
  await tx.query(
    `INSERT INTO ${table} (${names}) SELECT ${names} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`,
    [JSON.stringify(rows.map(({ row }) => ({ ...row, stream })))],
  )
}

/** Everything is in: sets the cursor. */
export async function endImport(tx: pg.PoolClient, stream: number, cursor: StreamCursor): Promise<void> {
  await tx.query(
    `UPDATE stream SET head = $2, final_height = $3, final_hash = $4, head_height = $5, head_hash = $6, head_time = $7,
            retired_at = NULL, updated_at = clock_timestamp() WHERE id = $1`,
    [
      stream,
      cursor.head,
      cursor.final_height,
      cursor.final_hash,
      cursor.head_height,
      cursor.head_hash,
      cursor.head_time,
    ],
  )
}

/** The newest migration of the event store: its tables and a snapshot's have to be the same. */
export async function newestMigration(db: pg.Pool | pg.PoolClient): Promise<string> {
  const { rows } = await db.query<{ name: string }>('SELECT max(name) AS name FROM migration')
  return rows[0]?.name ?? ''
}
