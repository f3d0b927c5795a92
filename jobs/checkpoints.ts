import type pg from 'pg'
import type { StreamKind } from '../db/streams.ts'
import { MIRROR } from '../db/wake-ups.ts'
import { type Projection, tablesOf } from './projection.ts'

export interface Checkpoint {
  /** Of the projection code that made the rows. */
  version: number
  position: number
  /** A batch that was begun and perhaps not finished: it is repeated with these bounds, so that its inserts deduplicate. */
  applying_to: number | null
  block_number: number
  block_time: number
  /** Rows that retractions up to here took back are gone from the tables. */
  compacted: number
}

export interface StreamRow {
  id: number
  name: string
  kind: StreamKind
  head: number
  head_height: number
  head_time: number
}

export async function listStreams(pool: pg.Pool): Promise<StreamRow[]> {
  const { rows } = await pool.query<StreamRow>(
    'SELECT id, name, kind, head, head_height, head_time FROM stream ORDER BY id',
  )
  return rows
}

/** Notes which projections there are: one that is not among them belongs to no face any more. */
export async function registerProjections(pool: pg.Pool, projections: readonly Projection[]): Promise<void> {
  await pool.query(
    `WITH declared AS (
       SELECT name, face, streams, string_to_array(tables, ' ') AS tables
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS p(name, face, streams, tables)
     ), gone AS (DELETE FROM projection WHERE name NOT IN (SELECT name FROM declared))
     INSERT INTO projection (name, face, streams, tables) SELECT name, face, streams, tables FROM declared
     ON CONFLICT (name) DO UPDATE SET face = excluded.face, streams = excluded.streams, tables = excluded.tables`,
    [
      projections.map(({ name }) => name),
      projections.map(({ face }) => face),
      projections.map(({ streams }) => streams),
      projections.map(projection => tablesOf(projection).join(' ')),
    ],
  )
  await pool.query('SELECT join_faces(id) FROM stream')
}

/** Projections with rows that other code than this made: they stand still until they are replayed. */
export async function readOutdated(
  pool: pg.Pool,
  projections: readonly { name: string; version: number }[],
): Promise<string[]> {
  const { rows } = await pool.query<{ projection: string }>(
    `SELECT DISTINCT c.projection FROM checkpoint c
     JOIN unnest($1::text[], $2::int[]) AS p(name, version) ON p.name = c.projection
     WHERE c.version <> p.version ORDER BY 1`,
    [projections.map(({ name }) => name), projections.map(({ version }) => version)],
  )
  return rows.map(({ projection }) => projection)
}

export async function readCheckpoint(
  pool: pg.Pool | pg.PoolClient,
  projection: string,
  stream: number,
): Promise<Checkpoint> {
  const { rows } = await pool.query<Checkpoint>(
    'SELECT version, position, applying_to, block_number, block_time, compacted FROM checkpoint WHERE projection = $1 AND stream = $2',
    [projection, stream],
  )
  return (
    rows[0] ?? { version: 0, position: 0, applying_to: null, block_number: -1, block_time: 0, compacted: 0 }
  )
}

/** Where the other projections of a stream stand, and are about to: it is there that they are read. */
export async function readCursors(
  pool: pg.Pool | pg.PoolClient,
  stream: number,
  projection: string,
): Promise<number[]> {
  const { rows } = await pool.query<{ cursor: number }>(
    `SELECT DISTINCT cursor FROM checkpoint CROSS JOIN unnest(ARRAY[position, applying_to]) AS cursor
     WHERE stream = $1 AND projection NOT IN ($2, $3) AND cursor IS NOT NULL`,
    [stream, MIRROR, projection],
  )
  return rows.map(({ cursor }) => cursor)
}

/** Notes that (position, to] is about to be applied. */
export async function beginBatch(
  pool: pg.PoolClient,
  projection: string,
  stream: number,
  to: number,
  version = 1,
): Promise<void> {
  await pool.query(
    `INSERT INTO checkpoint (projection, stream, version, applying_to) VALUES ($1, $2, $4, $3)
     ON CONFLICT (projection, stream) DO UPDATE SET applying_to = $3`,
    [projection, stream, to, version],
  )
}

/** Notes that everything up to `to` is applied, and tells those who listen on vaultlog_checkpoint. */
export async function finishBatch(
  pool: pg.PoolClient,
  projections: readonly string[],
  stream: number,
  to: number,
  block: { number: number; time: number },
): Promise<void> {
  if (projections.length === 0) return
  const { rows } = await pool.query<{ has_joined: boolean }>(
    `WITH moved AS (
       UPDATE checkpoint SET position = $3, changed_to = $3, applying_to = NULL, block_number = $4, block_time = $5, updated_at = clock_timestamp()
       WHERE projection = ANY ($1) AND stream = $2 RETURNING projection, has_joined
     )
     SELECT has_joined, pg_notify('vaultlog_checkpoint', projection || ' ' || $2::int || ' ' || $3::bigint) FROM moved`,
    [projections, stream, to, block.number, block.time],
  )
  if (!projections.includes(MIRROR)) await joinFaces(pool, stream, rows)
}

/**
 * Notes for those projections that stand at `from` that (from, to] is about to be applied; gives their names. Whoever calls holds
 * their locks. One that is in the middle of a batch or of another version is left to its own job.
 */
export async function beginTogether(
  client: pg.PoolClient,
  projections: readonly { name: string; version: number }[],
  stream: number,
  { from, to }: { from: number; to: number },
): Promise<string[]> {
  const { rows } = await client.query<{ projection: string }>(
    `UPDATE checkpoint c SET applying_to = $5 FROM unnest($1::text[], $2::int[]) AS p(name, version)
     WHERE c.projection = p.name AND c.version = p.version AND c.stream = $3 AND c.position = $4 AND c.applying_to IS NULL
     RETURNING c.projection`,
    [projections.map(({ name }) => name), projections.map(({ version }) => version), stream, from, to],
  )
  return rows.map(({ projection }) => projection)
}

/** Lets projections that have caught up with their face join it; where all have, nobody is asked. */
async function joinFaces(
  pool: pg.PoolClient,
  stream: number,
  moved: readonly { has_joined: boolean }[],
): Promise<void> {
  if (moved.every(({ has_joined }) => has_joined)) return
  await pool.query(`SELECT join_faces($1), pg_notify('vaultlog_checkpoint', 'joined ' || $1::int)`, [stream])
}

/**
 * Brings those projections that stood at `from` to `to`, which gives them no rows; gives their names. One that a worker holds, that
 * is in the middle of a batch or of another version is left to its own job. `takesBack`: rows that are there may not be seen any more.
 */
export async function passOver(
  pool: pg.PoolClient,
  projections: readonly { name: string; version: number }[],
  stream: number,
  { from, to, block }: { from: number; to: number; block: { number: number; time: number } },
  takesBack: boolean,
): Promise<string[]> {
  const { rows } = await pool.query<{ projection: string; has_joined: boolean }>(
    `WITH free AS MATERIALIZED (
       SELECT name, version FROM unnest($1::text[], $2::int[]) AS p(name, version)
       WHERE pg_try_advisory_xact_lock(hashtext('vaultlog projection ' || name), $3)
     ), moved AS (
       UPDATE checkpoint c SET position = $5, block_number = $6, block_time = $7, updated_at = clock_timestamp(),
         changed_to = CASE WHEN $8 THEN $5 ELSE c.changed_to END
       FROM free WHERE c.projection = free.name AND c.version = free.version AND c.stream = $3
         AND c.position = $4 AND c.applying_to IS NULL
       RETURNING c.projection, c.has_joined
     )
     SELECT projection, has_joined, pg_notify('vaultlog_checkpoint', projection || ' ' || $3::int || ' ' || $5::bigint) FROM moved`,
    [
      projections.map(({ name }) => name),
      projections.map(({ version }) => version),
      stream,
      from,
      to,
      block.number,
      block.time,
      takesBack,
    ],
  )
  await joinFaces(pool, stream, rows)
  return rows.map(({ projection }) => projection)
}

/** How long one may go on with what another waits for. */
export interface Turn {
  isOver(): boolean
}

/**
 * Runs `work` while holding the lock of (projection, stream), shared by all workers; undefined when another has it.
 * The lock is the connection's: a killed worker frees it.
 */
export function withLock<T>(
  pool: pg.Pool,
  projection: string,
  stream: number,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T | undefined> {
  return withLocks(pool, projection, async (locks, client) =>
    (await locks.take(stream)) ? work(client) : undefined,
  )
}

/** Takes the lock of (projection, stream) for as long as the connection is open; false when another has it. */
export function takeLock(client: pg.PoolClient, projection: string, stream: number): Promise<boolean> {
  return lock(client, 'pg_try_advisory_lock', projection, stream)
}

async function lock(
  client: pg.PoolClient,
  what: 'pg_try_advisory_lock' | 'pg_advisory_unlock',
  projection: string,
  stream: number,
): Promise<boolean> {
  const { rows } = await client.query<{ done: boolean }>(
    `SELECT ${what}(hashtext('vaultlog projection ' || $1), $2) AS done`,
    [projection, stream],
  )
  return rows[0]?.done === true
}

/**
 * Runs `work` while holding the locks of those of the projections on a stream that no other has, all on one connection. They are
 * the connection's, as those of `withLock`.
 */
export async function withFreeLocks<T>(
  pool: pg.Pool,
  projections: readonly string[],
  stream: number,
  work: (free: string[], client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  // What a statement that failed has locked nobody knows: such a connection is not used again.
  let broken: Error | undefined = new Error('locks may be left on it')
  try {
    const { rows } = await client.query<{ name: string }>(
      `SELECT name FROM unnest($1::text[]) AS name WHERE pg_try_advisory_lock(hashtext('vaultlog projection ' || name), $2)`,
      [projections, stream],
    )
    const free = rows.map(({ name }) => name)
    try {
      return await work(free, client)
    } finally {
      await client.query(
        `SELECT pg_advisory_unlock(hashtext('vaultlog projection ' || name), $2) FROM unnest($1::text[]) AS name`,
        [free, stream],
      )
      broken = undefined
    }
  } finally {
    client.release(broken)
  }
}

export interface Locks {
  /** False when another has it. */
  take(stream: number): Promise<boolean>
  free(stream: number): Promise<void>
}

/** Runs `work`, which may take the locks of a projection on any number of streams: all on one connection. */
export async function withLocks<T>(
  pool: pg.Pool,
  projection: string,
  work: (locks: Locks, client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  const taken = new Set<number>()
  const locks: Locks = {
    async take(stream) {
      const isFree = await takeLock(client, projection, stream)
      if (isFree) taken.add(stream)
      return isFree
    },
    async free(stream) {
      taken.delete(stream)
      await lock(client, 'pg_advisory_unlock', projection, stream)
    },
  }
  try {
    return await work(locks, client)
  } finally {
    for (const stream of taken) {
      await locks.free(stream).catch((error: Error) => {
        broken = error
      })
    }
    client.release(broken)
  }
}
