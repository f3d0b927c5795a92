import { PassThrough } from 'node:stream'
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { mayLackRows } from '../db/clickhouse/client.ts'
import { MIRROR } from '../db/wake-ups.ts'
import { beginBatch, finishBatch, readCheckpoint, type Turn, withLock } from './checkpoints.ts'

/** Fits one insert block of ClickHouse, so that a batch is one part and appears at once. */
const BATCH = 250_000

/** A block or a few: small enough to ask Postgres what is in it. */
export const FEW = 10_000

export interface MirroredBatch {
  from: number
  to: number
  /** The chain's block as of `to`. */
  block: { number: number; time: number }
  /** Of the events in it; only where they are few. */
  types?: ReadonlySet<string>
  /** Nothing is taken back after its beginning: it is the next batch of each projection as it is. */
  isWhole?: boolean
}

/**
 * Copies a stream's events from Postgres to ClickHouse's `event`, in ranges that end at block boundaries. The bytes
 * of COPY go through unparsed: its text format is ClickHouse's TabSeparated, if only a time has the ten digits by which
 * ClickHouse tells it from a date (a retraction has the time 0). Gives the position reached, or undefined where another
 * worker holds the lock.
 *
 * @param turn asked before each batch: whether to leave the rest for another time
 * @param most events of a batch, which may be more by what is left of a block
 */
export function mirrorStream(
  pool: pg.Pool,
  clickhouse: ClickHouseClient,
  stream: number,
  onBatch?: (batch: MirroredBatch, seconds: number, client: pg.PoolClient) => unknown,
  turn: Turn = { isOver: () => false },
  most = BATCH,
): Promise<number | undefined> {
  return withLock(pool, MIRROR, stream, async client => {
    while (true) {
      const checkpoint = await readCheckpoint(client, MIRROR, stream)
      const range = await nextRange(client, stream, checkpoint.position, checkpoint.applying_to, most)
      if (!range || turn.isOver()) return checkpoint.position
      const startedAt = performance.now()
      await beginBatch(client, MIRROR, stream, range.to)
      const from = checkpoint.position
      // Copied once more, a range may stand there twice until it is merged: then nobody passes over a look at what is there.
      const isRepeated = checkpoint.applying_to !== null
      const found =
        range.to - from > FEW || isRepeated ? undefined : await contentOf(client, stream, from, range.to)
      const isDoubtful = isRepeated && mayLackRows(clickhouse)
      await copyRange(client, clickhouse, stream, from, range.to)
      if (isDoubtful && !(await isThere(clickhouse, stream, from, range.to)))
        await copyRange(client, clickhouse, stream, from, range.to, { insert_deduplicate: 0 })
      if (!found || found.types.has('BlockRetracted')) {
        await copyRetractions(clickhouse, stream, from, range.to)
        if (isDoubtful)
          await copyRetractions(clickhouse, stream, from, range.to, `AND ${MISSING}`, {
            insert_deduplicate: 0,
          })
      }
      await finishBatch(client, [MIRROR], stream, range.to, range.block)
      await onBatch?.({ from, ...range, ...found }, (performance.now() - startedAt) / 1000, client)
    }
  })
}

/** The end of the next batch and the chain's block as of it; undefined when there is nothing to copy. */
async function nextRange(
  client: pg.PoolClient,
  stream: number,
  after: number,
  applyingTo: number | null,
  most: number,
): Promise<{ to: number; block: { number: number; time: number } } | undefined> {
  const { rows } = await client.query<{ head: number; head_height: number; head_time: number }>(
    'SELECT head, head_height, head_time FROM stream WHERE id = $1',
    [stream],
  )
  const head = rows[0]
  if (!head || head.head <= after) return undefined
  let to = applyingTo ?? Math.min(head.head, after + most)
  if (applyingTo !== null && applyingTo < head.head) {
    // Exactly as it was begun, though the block may go on by now: other bounds would not deduplicate.
    const { rows: ends } = await client.query<{ number: number; time: number }>(
      'SELECT block_number AS number, block_time AS time FROM event_log WHERE stream = $1 AND position = $2',
      [stream, applyingTo],
    )
    const [block] = ends
    return block && { to, block }
  }
  if (to >= head.head) return { to: head.head, block: { number: head.head_height, time: head.head_time } }
  // To the end of the block that holds position `to`: blocks are never cut.
  const { rows: ends } = await client.query<{ to: number; block_number: number; block_time: number }>(
    `SELECT coalesce(min(next.before), $3) AS to, max(edge.block_number) AS block_number, max(edge.block_time) AS block_time
     FROM event_log edge LEFT JOIN LATERAL (
       SELECT position - CASE type WHEN 'Packed' THEN (data->>'count')::bigint ELSE 1 END AS before FROM event_log
       WHERE stream = $1 AND position > edge.position AND (block_hash <> edge.block_hash OR type = 'BlockRetracted') ORDER BY position LIMIT 1
     ) next ON true
     WHERE edge.stream = $1 AND edge.position = (SELECT min(position) FROM event_log WHERE stream = $1 AND position >= $2)`,
    [stream, to, head.head],
  )
  const end = ends[0]
  if (!end) return undefined
  to = end.to
  return { to, block: { number: end.block_number, time: end.block_time } }
}

async function copyRange(
  client: pg.PoolClient,
  clickhouse: ClickHouseClient,
  stream: number,
  from: number,
  to: number,
  deduplication: ClickHouseSettings = { insert_deduplication_token: tokenOf(stream, from, to) },
): Promise<void> {
  const rows = client.query(
    copyTo(
      `COPY (
        SELECT stream, position, type, protocol, block_number, '0x' || encode(block_hash, 'hex'), lpad(block_time::text, 10, '0'),
               coalesce('0x' || encode(tx_hash, 'hex'), ''), coalesce(log_index, 4294967295),
               coalesce('0x' || encode(contract, 'hex'), ''), data
        FROM stored_events(${Number(stream)}, ${Number(from)}, ${Number(to)})
        ORDER BY row_position, position
      ) TO STDOUT`,
    ),
  )
  const body = new PassThrough()
  rows.pipe(body)
  rows.once('error', error => body.destroy(error))
  try {
    await clickhouse.insert({
      table: 'event',
      values: body,
      format: 'TabSeparated',
      clickhouse_settings: {
        ...deduplication,
        max_insert_block_size: '1048576',
        min_insert_block_size_rows: '1048576',
        min_insert_block_size_bytes: '0',
        input_format_parallel_parsing: 0,
        log_comment: 'mirror event',
      },
    })
  } catch (error) {
    // A COPY that nobody reads would keep the connection busy for ever, and with it the stream's lock.
    rows.unpipe(body)
    rows.resume()
    throw error
  }
}

/** Whether all events at positions (from, to] are in ClickHouse. */
async function isThere(
  clickhouse: ClickHouseClient,
  stream: number,
  from: number,
  to: number,
): Promise<boolean> {
  const answer = await clickhouse.query({
    query: `SELECT uniqExact(position) = {to:UInt64} - {from:UInt64} AS isThere FROM event
      WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}`,
    query_params: { stream, from, to },
    format: 'JSONEachRow',
    clickhouse_settings: { log_comment: 'mirror event' },
  })
  const [row] = await answer.json<{ isThere: number }>()
  return row?.isThere === 1
}

const MISSING = `position NOT IN (
  SELECT retracted_by FROM retracted WHERE stream = {stream:Int32} AND retracted_by > {from:UInt64} AND retracted_by <= {to:UInt64})`

async function copyRetractions(
  clickhouse: ClickHouseClient,
  stream: number,
  from: number,
  to: number,
  where = '',
  deduplication: ClickHouseSettings = { insert_deduplication_token: tokenOf(stream, from, to) },
): Promise<void> {
  await clickhouse.command({
    query: `INSERT INTO retracted
      SELECT stream, arrayJoin(range(JSONExtractUInt(data, 'fromPosition'), JSONExtractUInt(data, 'toPosition') + 1)), position
      FROM event
      WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'BlockRetracted' ${where}`,
    query_params: { stream, from, to },
    clickhouse_settings: { ...deduplication, log_comment: 'mirror retracted' },
  })
}

/** By which a range's events, and its retractions, are inserted once. */
export const tokenOf = (stream: number, from: number, to: number) => `event:${stream}:${from}:${to}`

async function contentOf(
  client: pg.PoolClient,
  stream: number,
  from: number,
  to: number,
): Promise<Required<Pick<MirroredBatch, 'types' | 'isWhole'>>> {
  const { rows } = await client.query<{ type: string; first: number; last: number }>(
    `SELECT CASE type WHEN 'Packed' THEN data->>'type' ELSE type END AS type, min(position) AS first, max(position) AS last FROM event_log
     WHERE stream = $1 AND position > $2 AND position <= $3 GROUP BY 1`,
    [stream, from, to],
  )
  const others = rows.filter(({ type }) => type !== 'BlockRetracted')
  const retractions = rows.filter(({ type }) => type === 'BlockRetracted')
  return {
    types: new Set(rows.map(({ type }) => type)),
    isWhole: retractions.every(({ last }) => others.every(({ first }) => last < first)),
  }
}
