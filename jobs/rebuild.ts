import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import { dropClickHouse, migrateClickHouse } from '../db/clickhouse/migrate.ts'
import { VaultlogError } from '../db/process/errors.ts'
import { readRebuild, readTargets, sign } from '../db/read-models.ts'
import { MIRROR } from '../db/wake-ups.ts'
import { listStreams, takeLock } from './checkpoints.ts'
import type { ProgressBoard } from './progress.ts'
import type { Projection } from './projection.ts'
import { concerns } from './replay.ts'
import { findWork, work } from './work.ts'

export interface RebuildOptions {
  pool: pg.Pool
  clickhouse: ClickHouse
  projections: readonly Projection[]
  progress: ProgressBoard
  signal?: AbortSignal
}

class RebuildInterrupted extends VaultlogError {
  readonly code = 'REBUILD_INTERRUPTED'
  constructor() {
    super(
      'Interrupted. What is made so far stays; `vaultlog rebuild --resume`, or a running worker, goes on with it.',
    )
  }
}

class RebuildRunningError extends VaultlogError {
  readonly code = 'REBUILD_RUNNING'
  constructor() {
    super('Another process is about to rebuild the read models. Wait until it has ended, or stop it.')
  }
}

/**
 * Drops all read models and makes them anew from the event store, which it never touches. Workers may run: they wait
 * while the database is dropped, and help to fill it afterwards. API processes answer 503 until everything that was
 * there before is there again.
 */
export async function rebuild(options: RebuildOptions & { resume?: boolean }): Promise<void> {
  if (!options.resume || !(await readTargets(options.pool))) await begin(options)
  await fill(options)
}

async function begin({ pool, clickhouse, projections, signal }: RebuildOptions): Promise<void> {
  const streams = await listStreams(pool)
  const targets = streams.flatMap(stream =>
    [MIRROR, ...projections.filter(projection => concerns(projection, stream)).map(({ name }) => name)].map(
      projection => ({ projection, stream: stream.id, to: stream.head }),
    ),
  )
  await holdingAll(pool, targets, signal, async () => {
    for (const { database } of (await shadowsOf(clickhouse)).concat(clickhouse))
      await dropClickHouse(clickhouse, database)
    await migrateClickHouse(clickhouse)
    // In this order: killed in between, the database is still another one than the checkpoints tell of.
    const { rows } = await pool.query<{ store: string }>(
      `WITH emptied AS (DELETE FROM checkpoint), shadows AS (DELETE FROM replay)
       UPDATE read_models SET rebuild = $1, filled = '{}', may_be_empty = '{}' RETURNING store`,
      [JSON.stringify(targets)],
    )
    if (rows[0]) await sign(clickhouse.client, rows[0].store)
  })
}

/** Databases of unfinished replays and verifications: they are made from staging that goes. */
async function shadowsOf(clickhouse: ClickHouse): Promise<{ database: string }[]> {
  return inDefault(clickhouse, house =>
    house.query<{ database: string }>(
      'rebuild',
      'SELECT name AS database FROM system.databases WHERE name IN ({names:Array(String)})',
      { names: ['replay', 'verify'].map(purpose => `${clickhouse.database}_${purpose}`) },
    ),
  )
}

async function inDefault<T>(clickhouse: ClickHouse, work: (house: ClickHouse) => Promise<T>): Promise<T> {
  const house = clickhouse.in('default')
  try {
    return await work(house)
  } finally {
    await house.close()
  }
}

/** Holds the locks of every projection on every stream, on one connection, so that no batch is under way anywhere. */
async function holdingAll(
  pool: pg.Pool,
  targets: readonly { projection: string; stream: number }[],
  signal: AbortSignal | undefined,
  work: () => Promise<void>,
): Promise<void> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    if (!(await takeLock(client, 'rebuild', 0))) throw new RebuildRunningError()
    for (const { projection, stream } of targets) {
      while (!(await takeLock(client, projection, stream))) {
        if (signal?.aborted) throw new RebuildInterrupted()
        await pause(50)
      }
    }
    await work()
  } finally {
    await client.query('SELECT pg_advisory_unlock_all()').catch((error: Error) => {
      broken = error
    })
    client.release(broken)
  }
}

async function fill({ pool, clickhouse, projections, progress, signal }: RebuildOptions): Promise<void> {
  const targets = await readTargets(pool)
  if (!targets) return
  const { goal } = await readRebuild(pool, targets)
  const bar = progress.start('read models', goal, 'positions')
  const show = async () => {
    const { done } = await readRebuild(pool, targets)
    bar.update(done)
    return done
  }
  while ((await show()) < goal) {
    const jobs = await findWork(pool, projections)
    for (const job of jobs) {
      if (signal?.aborted) throw new RebuildInterrupted()
      await work(
        {
          pool,
          clickhouse: clickhouse.client,
          projections,
          signal,
          onBatch: () => void show().catch(() => {}),
        },
        job,
      )
    }
    // What is left is in the hands of workers.
    if ((await show()) < goal) await pause(200)
  }
  bar.finish()
  await pool.query('UPDATE read_models SET rebuild = NULL, fault = NULL')
}
