import type pg from 'pg'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import { everyNode, identifier, storage } from '../db/clickhouse/migrate.ts'
import { log } from '../db/process/log.ts'
import { steadyNow } from '../db/process/steady.ts'
import { withLock } from './checkpoints.ts'
import { type Projection, partsOf } from './projection.ts'

/** Positions that one statement names: its text stays well below what the server reads. */
const AT_ONCE = 5_000

/**
 * Takes rows out of a projection's tables whose events retractions at positions (from, to] took back. No reader at `to` or later
 * sees them, and no batch behind it reads them. Heads stay as they are: they took theirs back themselves. Gives how many rows went.
 */
export async function dropRetracted(
  { pool, house, signal }: { pool: Queryable; house: ClickHouse; signal?: AbortSignal | undefined },
  projection: Projection,
  stream: number,
  { from, to }: { from: number; to: number },
): Promise<number> {
  if (from >= to) return 0
  const retracted = await house.query<{ position: string }>(
    'compact',
    `SELECT position FROM retracted
     WHERE stream = {stream:Int32} AND retracted_by > {from:UInt64} AND retracted_by <= {to:UInt64} ORDER BY position`,
    { stream, from, to },
  )
  const positions = retracted.map(({ position }) => position)
  let dropped = 0
  for (let next = 0; next < positions.length; next += AT_ONCE) {
    const some = positions.slice(next, next + AT_ONCE)
    for (const { name, into, isHead } of partsOf(projection)) {
      signal?.throwIfAborted()
      if (into || isHead) continue
      dropped += await dropPositions({ pool, house }, name, stream, some)
    }
  }
  return dropped
}

type Queryable = Pick<pg.Pool, 'query'>

async function dropPositions(
  { pool, house }: { pool: Queryable; house: ClickHouse },
  table: string,
  stream: number,
  positions: readonly string[],
): Promise<number> {
  // Positions as literals, not as a subquery: each replica has to delete the same rows, whenever it carries the statement out.
  const rows = `chain_id = ${Number(stream)} AND position IN (${positions.map(BigInt).join(', ')})`
  const [found] = await house.query<{ n: string }>(
    'compact',
    `SELECT count() AS n FROM ${identifier(table)} WHERE ${rows}`,
  )
  const n = Number(found?.n ?? 0)
  // A deletion of nothing would be a look at every part all the same, on every node.
  if (n === 0) return 0
  const others = await house.query(
    'compact',
    `SELECT 1 FROM ${identifier(table)} WHERE NOT (${rows}) LIMIT 1`,
  )
  // Noted first: whoever looks after tables takes one without rows for one that lost them.
  if (others.length === 0)
    await pool.query(
      'UPDATE read_models SET may_be_empty = array_append(may_be_empty, $1) WHERE NOT $1 = ANY (may_be_empty)',
      [table],
    )
  await house.command(
    'compact',
    `DELETE FROM ${storage(house, table)}${everyNode(house)} IN PARTITION ${Number(stream)} WHERE ${rows}`,
  )
  return n
}

export interface CompactionOptions {
  pool: pg.Pool
  clickhouse: ClickHouse
  projections: readonly Projection[]
}

/** By stream with retractions that are not compacted yet, the position up to which every reader sees all of them. */
export async function readCompactable(pool: pg.Pool): Promise<Map<number, number>> {
  const { rows } = await pool.query<{ stream: number; position: number }>(
    `WITH reached AS (
       SELECT c.stream, min(c.position) AS position, min(c.compacted) AS compacted
       FROM checkpoint c JOIN projection p ON p.name = c.projection WHERE c.has_joined GROUP BY c.stream
     )
     SELECT stream, position FROM reached WHERE EXISTS (
       SELECT FROM event_log e WHERE e.stream = reached.stream AND e.type = 'BlockRetracted'
         AND e.position > reached.compacted AND e.position <= reached.position)`,
  )
  return new Map(rows.map(({ stream, position }) => [stream, position]))
}

/**
 * Takes what retractions up to `to` took back out of all read models of a stream, and notes it: questions behind it need not look
 * at those retractions. A projection that is held by another process, or stands before `to`, is left for another time.
 */
export async function compactStream(
  { pool, clickhouse, projections }: CompactionOptions,
  stream: number,
  to: number,
  signal?: AbortSignal,
): Promise<void> {
  let dropped = 0
  for (const projection of projections) {
    if (signal?.aborted) return
    try {
      dropped += await compactProjection({ pool, clickhouse, signal }, projection, stream, to)
    } catch (error) {
      if (signal?.aborted) return
      // Compaction spares readers work and no more: nothing waits for it.
      const { message } = error as Error
      log.warn(
        { stream, to, projection: projection.name, error: message },
        'rows of retracted events could not be taken out',
      )
    }
  }
  // Readers learn of it with the next move of anything.
  if (dropped > 0) log.info({ stream, to, rows: dropped }, 'rows of retracted events are gone')
}

async function compactProjection(
  { pool, clickhouse, signal }: { pool: pg.Pool; clickhouse: ClickHouse; signal: AbortSignal | undefined },
  projection: Projection,
  stream: number,
  to: number,
): Promise<number> {
  // Rows of another version may be in tables that this one does not know.
  const due = async (client: Queryable) => {
    const { rows } = await client.query<{ compacted: number }>(
      `SELECT compacted FROM checkpoint WHERE projection = $1 AND stream = $2 AND version = $3
         AND position >= $4 AND compacted < $4 AND applying_to IS NULL`,
      [projection.name, stream, projection.version, to],
    )
    return rows[0]
  }
  if (!(await due(pool))) return 0
  const dropped = await withLock(pool, projection.name, stream, async client => {
    const own = await due(client)
    if (!own) return 0
    const rows = await dropRetracted({ pool: client, house: clickhouse, signal }, projection, stream, {
      from: own.compacted,
      to,
    })
    await client.query('UPDATE checkpoint SET compacted = $3 WHERE projection = $1 AND stream = $2', [
      projection.name,
      stream,
      to,
    ])
    return rows
  })
  return dropped ?? 0
}

/** How long after a retraction nobody reads at a moment before it any more. */
const READERS_MS = 600_000

/** Compacts each stream up to where it stood a while ago, one process at a time. */
export class Compaction {
  private readonly options: CompactionOptions & { readersMs?: number }
  private before: ReadonlyMap<number, number> = new Map()
  private notedAt = 0

  constructor(options: CompactionOptions & { readersMs?: number }) {
    this.options = options
  }

  /** Called as often as one likes; does something every ten minutes. */
  async turn(signal: AbortSignal): Promise<void> {
    const { pool, readersMs = READERS_MS } = this.options
    if (steadyNow() - this.notedAt < readersMs) return
    this.notedAt = steadyNow()
    const due = this.before
    this.before = await readCompactable(pool)
    for (const [stream, to] of due) {
      await compactStream(this.options, stream, to, signal)
    }
  }
}
