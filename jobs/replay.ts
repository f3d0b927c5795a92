import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import {
  dropClickHouse,
  everyNode,
  identifier,
  migrateClickHouse,
  storage,
} from '../db/clickhouse/migrate.ts'
import { VaultlogError } from '../db/process/errors.ts'
import { inLanes } from '../db/process/lanes.ts'
import { MIRROR } from '../db/wake-ups.ts'
import { type Checkpoint, readCheckpoint, type StreamRow, withLocks } from './checkpoints.ts'
import { dropRetracted } from './compaction.ts'
import type { ProgressBoard } from './progress.ts'
import { hasHead, type Projection, tablesOf } from './projection.ts'
import { planRange } from './ranges.ts'
import { applyBatch, runProjection } from './runner.ts'

export interface ReplayOptions {
  pool: pg.Pool
  /** The live database; shadows are called `<database>_<purpose>`. */
  clickhouse: ClickHouse
  projections: readonly Projection[]
  streams: readonly StreamRow[]
  /** Rows of earlier blocks are taken over from the live tables. */
  fromBlock?: number
  progress: ProgressBoard
  signal?: AbortSignal
  /** Positions per batch. */
  batch?: number
  /** Forks that leave no rows in a shadow: of those that the live tables have no rows of any more (the default), or of all. */
  leaveOut?: 'compacted' | 'all'
}

export class ReplayInterrupted extends VaultlogError {
  readonly code = 'REPLAY_INTERRUPTED'
  constructor() {
    super('Interrupted. The live tables are untouched; the same command goes on where it stopped.')
  }
}

/** Two would drop and fill each other's tables. */
class ReplayRunningError extends VaultlogError {
  readonly code = 'REPLAY_RUNNING'
  constructor(database: string) {
    super(`Another process makes tables in ${database} right now. Wait until it has ended, or stop it.`)
  }
}

/** Does `work` while no other process makes tables in the shadow database. */
export function alone<T>(pool: pg.Pool, shadow: ClickHouse, work: () => Promise<T>): Promise<T> {
  return withLocks(pool, shadow.database, async locks => {
    if (!(await locks.take(0))) throw new ReplayRunningError(shadow.database)
    return work()
  })
}

const REPLAY_BATCH = 1_000_000

/**
 * Makes the rows of projections anew beside the live tables, which are served meanwhile, and swaps them in when they
 * have caught up: EXCHANGE TABLES where all chains were replayed, REPLACE PARTITION for one chain; both atomic.
 * Interrupted it goes on where it stopped.
 */
export async function replay(options: ReplayOptions): Promise<void> {
  const shadow = options.clickhouse.in(`${options.clickhouse.database}_replay`)
  try {
    await alone(options.pool, shadow, async () => {
      await buildShadow(options, shadow)
      for (const projection of options.projections) {
        const streams = options.streams.filter(stream => concerns(projection, stream))
        await holdingLocks(options, projection, streams, async live => {
          for (const stream of streams)
            await catchUpWhole(options, shadow, projection, stream, live.get(stream.id))
          await swapIn(options, shadow, projection, streams)
        })
      }
      await dropShadow(options, shadow)
    })
  } finally {
    await shadow.close()
  }
}

/** Builds shadow tables up to where the live ones are now. */
export async function buildShadow(options: ReplayOptions, shadow: ClickHouse): Promise<void> {
  const applied = await migrateClickHouse(shadow, { staging: options.clickhouse.database })
  // Tables made or changed just now hold nothing of what an earlier attempt noted.
  if (applied.length > 0)
    await options.pool.query('DELETE FROM replay WHERE database = $1', [shadow.database])
  const sizes = await sizesOf(options.clickhouse)
  const each = options.projections
    .flatMap(projection =>
      options.streams
        .filter(stream => concerns(projection, stream))
        .map(stream => ({ projection, stream, size: sizes(projection, stream) })),
    )
    .sort((a, b) => b.size - a.size)
  await inLanes(LANES, each, async ({ projection, stream }) => {
    const live = await readCheckpoint(options.pool, projection.name, stream.id)
    await catchUp(options, shadow, projection, stream, live)
  })
}

/** Two statements at a time: sorting and writing keep one core each, and two batches are what memory is reckoned for. */
const LANES = 2

/** Bytes of a projection's live rows of a stream, on this node. What is largest is begun first: last, it would run alone. */
async function sizesOf(house: ClickHouse): Promise<(projection: Projection, stream: StreamRow) => number> {
  const rows = await house.query<{ place: string; bytes: string }>(
    'replay',
    `SELECT concat(database, '.', table, ' ', partition) AS place, toString(sum(bytes_on_disk)) AS bytes FROM system.parts
     WHERE database = {database:String} AND active GROUP BY place`,
    { database: house.database },
  )
  const sizes = new Map(rows.map(({ place, bytes }) => [place, Number(bytes)]))
  return (projection, stream) =>
    tablesOf(projection)
      .map(name => sizes.get(`${storage(house, name)} ${partitionOf(projection, stream) ?? 'tuple()'}`) ?? 0)
      .reduce((sum, bytes) => sum + bytes, 0)
}

export function concerns(projection: Projection, stream: StreamRow): boolean {
  return projection.streams === stream.kind
}

export async function dropShadow(options: ReplayOptions, shadow: ClickHouse): Promise<void> {
  await options.pool.query('DELETE FROM replay WHERE database = $1', [shadow.database])
  await dropClickHouse(shadow)
}

interface ShadowState {
  position: number
  applying_to: number | null
}

/** Brings one shadow table on one stream to the live checkpoint. */
async function catchUp(
  options: ReplayOptions,
  shadow: ClickHouse,
  projection: Projection,
  stream: StreamRow,
  live: Checkpoint | undefined,
): Promise<void> {
  const { pool, clickhouse, signal } = options
  // A table of another version has no rows to take over and no checkpoint worth catching up to: then everything mirrored
  // is the goal.
  const own = live?.version === projection.version ? live : undefined
  const goal = own ?? (await readCheckpoint(pool, MIRROR, stream.id))
  let state = await openShadow(options, shadow, projection, stream, own)
  if (goal.position <= state.position) return
  const bar = options.progress.start(`${projection.name} ${stream.name}`, goal.position, 'events')
  while (state.position < goal.position) {
    if (signal?.aborted) throw new ReplayInterrupted()
    const end = state.applying_to ?? Math.min(goal.position, state.position + (options.batch ?? REPLAY_BATCH))
    const range = await planRange(clickhouse.client, stream.id, state.position, end, goal, {
      isBegun: state.applying_to !== null,
      leaveOutTo: options.leaveOut === 'all' ? goal.position : (live?.compacted ?? 0),
    })
    await keepState(pool, shadow, projection, stream, { position: state.position, applying_to: range.to })
    await applyBatch(pool, shadow.client, projection, stream.id, range)
    state = { position: range.to, applying_to: null }
    await keepState(pool, shadow, projection, stream, state)
    bar.update(state.position)
  }
  bar.finish()
}

/** The same while nobody moves the live table: without the rows that are gone from there, either, and so what it is to be. */
export async function catchUpWhole(
  options: ReplayOptions,
  shadow: ClickHouse,
  projection: Projection,
  stream: StreamRow,
  live: Checkpoint | undefined,
): Promise<void> {
  await catchUp(options, shadow, projection, stream, live)
  const to = live?.compacted ?? 0
  await dropRetracted({ pool: options.pool, house: shadow }, projection, stream.id, { from: 0, to })
}

/** The state of an interrupted replay with the same beginning, or a clean start. */
async function openShadow(
  options: ReplayOptions,
  shadow: ClickHouse,
  projection: Projection,
  stream: StreamRow,
  /** Of the live rows, as far as they can be taken over. */
  own: Checkpoint | undefined,
): Promise<ShadowState> {
  const { pool, clickhouse } = options
  const before = hasHead(projection) ? 0 : await positionBefore(clickhouse, stream.id, options.fromBlock)
  const until = own?.position ?? 0
  const from = await beforeForks(clickhouse, stream.id, Math.min(before, until), until)
  const { rows } = await pool.query<ShadowState & { version: number; from_position: number }>(
    'SELECT version, from_position, position, applying_to FROM replay WHERE database = $1 AND projection = $2 AND stream = $3',
    [shadow.database, projection.name, stream.id],
  )
  const found = rows[0]
  if (found && found.version === projection.version && found.from_position === from) return found
  const partition = partitionOf(projection, stream)
  for (const name of tablesOf(projection)) {
    const table = `${storage(shadow, name)}${everyNode(shadow)}`
    await clickhouse.command(
      'replay',
      partition ? `ALTER TABLE ${table} DROP PARTITION ${partition}` : `TRUNCATE TABLE ${table}`,
    )
  }
  for (const name of from > 0 ? tablesOf(projection) : []) {
    await clickhouse.command(
      'replay',
      // Not to be taken for one that a killed server has noted and not done.
      `INSERT INTO ${identifier(shadow.database)}.${identifier(name)} SETTINGS insert_deduplicate = 0
       SELECT * FROM ${identifier(name)} WHERE position <= {from:UInt64} ${partition ? 'AND chain_id = {stream:UInt32}' : ''}`,
      { from, stream: stream.id },
    )
  }
  await pool.query(
    `INSERT INTO replay (database, projection, stream, version, from_position, position) VALUES ($1, $2, $3, $4, $5, $5)
     ON CONFLICT (database, projection, stream)
     DO UPDATE SET version = $4, from_position = $5, position = $5, applying_to = NULL, started_at = clock_timestamp()`,
    [shadow.database, projection.name, stream.id, projection.version, from],
  )
  return { position: from, applying_to: null }
}

async function keepState(
  pool: pg.Pool,
  shadow: ClickHouse,
  projection: Projection,
  stream: StreamRow,
  state: ShadowState,
): Promise<void> {
  await pool.query(
    'UPDATE replay SET position = $4, applying_to = $5 WHERE database = $1 AND projection = $2 AND stream = $3',
    [shadow.database, projection.name, stream.id, state.position, state.applying_to],
  )
}

/** The last position before any event of `block` or a later one. */
async function positionBefore(
  clickhouse: ClickHouse,
  stream: number,
  block: number | undefined,
): Promise<number> {
  if (block === undefined) return 0
  const [row] = await clickhouse.query<{ position: string }>(
    'replay',
    `SELECT if(count() = 0, 0, min(position) - 1) AS position FROM event
     WHERE stream = {stream:Int32} AND block_number >= {block:UInt64}`,
    { stream, block },
  )
  return Number(row?.position ?? 0)
}

/** Rows are taken over from where no fork is amid: what it took back was there for what follows, and may be gone by now. */
async function beforeForks(
  clickhouse: ClickHouse,
  stream: number,
  from: number,
  until: number,
): Promise<number> {
  if (from === 0) return from
  const [row] = await clickhouse.query<{ first: string }>(
    'replay',
    `SELECT min(position) AS first FROM retracted
     WHERE stream = {stream:Int32} AND position <= {from:UInt64} AND retracted_by > {from:UInt64} AND retracted_by <= {until:UInt64}
     HAVING count() > 0`,
    { stream, from, until },
  )
  return row ? beforeForks(clickhouse, stream, Number(row.first) - 1, until) : from
}

function partitionOf(projection: Projection, stream: StreamRow): string | undefined {
  return projection.streams !== 'registry' ? String(Number(stream.id)) : undefined
}

/**
 * Holds the live locks of all streams of a projection: nobody moves its checkpoints while `work` runs. A batch that a
 * killed worker left begun is finished first, so that rows and checkpoint agree.
 */
export function holdingLocks<T>(
  { pool, clickhouse, signal }: ReplayOptions,
  projection: Projection,
  streams: readonly StreamRow[],
  work: (live: Map<number, Checkpoint>) => Promise<T>,
): Promise<T> {
  return withLocks(pool, projection.name, async (locks, client) => {
    const live = new Map<number, Checkpoint>()
    for (const { id } of streams) {
      for (let attempt = 1; !live.has(id); attempt++) {
        if (signal?.aborted) throw new ReplayInterrupted()
        if (!(await locks.take(id))) {
          await setTimeout(Math.min(1000, 50 * attempt))
          continue
        }
        const checkpoint = await readCheckpoint(client, projection.name, id)
        if (checkpoint.applying_to === null || checkpoint.version !== projection.version)
          live.set(id, checkpoint)
        else {
          await locks.free(id)
          await runProjection(pool, clickhouse.client, projection, id)
        }
      }
    }
    return work(live)
  })
}

/**
 * From here on the shadow is not to be gone on with: killed between two exchanges, one table is the new and one the
 * old, and only a replay from the beginning may be swapped in again.
 */
const SWAPPING = -1

async function swapIn(
  options: ReplayOptions,
  shadow: ClickHouse,
  projection: Projection,
  streams: readonly StreamRow[],
): Promise<void> {
  const { clickhouse, pool } = options
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM stream WHERE kind = $1',
    [projection.streams],
  )
  const ids = streams.map(({ id }) => id)
  await pool.query(
    'UPDATE replay SET from_position = $4 WHERE database = $1 AND projection = $2 AND stream = ANY ($3)',
    [shadow.database, projection.name, ids, SWAPPING],
  )
  await forgetFilled(pool, projection)
  for (const name of tablesOf(projection)) {
    const live = storage(clickhouse, name)
    const made = storage(shadow, name)
    if (rows[0]?.count === streams.length) {
      await clickhouse.command('replay', `EXCHANGE TABLES ${live} AND ${made}${everyNode(clickhouse)}`)
      continue
    }
    for (const stream of streams) {
      const [row] = await shadow.query(
        'replay',
        `SELECT 1 FROM ${identifier(name)} WHERE chain_id = {stream:UInt32} LIMIT 1`,
        {
          stream: stream.id,
        },
      )
      const partition = partitionOf(projection, stream)
      // An empty partition is refused as a source.
      const change = row ? `REPLACE PARTITION ${partition} FROM ${made}` : `DROP PARTITION ${partition}`
      await clickhouse.command('replay', `ALTER TABLE ${live}${everyNode(clickhouse)} ${change}`)
    }
  }
  // Whoever looked meanwhile saw rows of the old tables.
  await forgetFilled(pool, projection)
  // Where the code is newer than the rows were, the goal was the mirror's end: the checkpoint follows the new rows.
  for (const stream of streams) {
    await pool.query(
      `INSERT INTO checkpoint (projection, stream, version, position, changed_to, block_number, block_time)
       SELECT r.projection, r.stream, r.version, r.position, r.position, m.block_number, m.block_time
       FROM replay r JOIN checkpoint m ON m.projection = $4 AND m.stream = r.stream
       WHERE r.database = $1 AND r.projection = $2 AND r.stream = $3
       ON CONFLICT (projection, stream) DO UPDATE SET version = excluded.version,
         replays = checkpoint.replays + 1, position = greatest(checkpoint.position, excluded.position), applying_to = NULL,
         changed_to = greatest(checkpoint.position, excluded.position),
         block_number = CASE WHEN excluded.position > checkpoint.position THEN excluded.block_number ELSE checkpoint.block_number END,
         block_time = CASE WHEN excluded.position > checkpoint.position THEN excluded.block_time ELSE checkpoint.block_time END`,
      [shadow.database, projection.name, stream.id, MIRROR],
    )
    await pool.query('SELECT join_faces($1)', [stream.id])
  }
  await pool.query('DELETE FROM replay WHERE database = $1 AND projection = $2 AND stream = ANY ($3)', [
    shadow.database,
    projection.name,
    ids,
  ])
}

/** The new rows may be none: who looks at the tables learns anew which have any. */
async function forgetFilled(pool: pg.Pool, projection: Projection): Promise<void> {
  await pool.query(
    'UPDATE read_models SET filled = ARRAY(SELECT unnest(filled) EXCEPT SELECT unnest($1::text[]))',
    [tablesOf(projection)],
  )
}
