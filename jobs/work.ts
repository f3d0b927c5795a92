import type { ClickHouseClient } from '@clickhouse/client'
import type pg from 'pg'
import type { Turns } from '../db/process/turns.ts'
import { checkReadModels, ReadModelsLostError } from '../db/read-models.ts'
import { kindOfStream, type StreamKind } from '../db/streams.ts'
import { type Job, MIRROR } from '../db/wake-ups.ts'
import { passOver, registerProjections, type Turn } from './checkpoints.ts'
import { type MirroredBatch, mirrorStream } from './mirror.ts'
import { changesBy, type Projection, partsOf } from './projection.ts'
import { expectRange } from './ranges.ts'
import { runProjection } from './runner.ts'
import { canTogether, projectTogether } from './together.ts'

export interface WorkContext {
  pool: pg.Pool
  clickhouse: ClickHouseClient
  projections: readonly Projection[]
  /** After each batch of positions (from, to], of the mirror (`event`) too. */
  onBatch?: (projection: string, stream: number, batch: { from: number; to: number }, seconds: number) => void
  signal?: AbortSignal
  /**
   * Blocks as they come are brought into the projections by the job that mirrors them, one batch after the other: so many
   * statements at one time from all of them.
   */
  together?: Turns
  /** The stream is another worker's just now. */
  onHeld?: () => void
  /**
   * Milliseconds after which a job leaves the rest to a job of its own, behind those that wait: a new projection on a
   * large store would keep the others of every chain waiting for as long as it takes. Absent: none does.
   */
  turnMs?: number
}

/**
 * Does one job; gives the jobs that follow from it (a mirrored stream wakes its projections), itself among them where
 * its turn was over before it was done.
 */
export async function work(context: WorkContext, job: Job): Promise<Job[]> {
  const { pool, clickhouse, projections, signal, turnMs = Number.POSITIVE_INFINITY } = context
  const until = performance.now() + turnMs
  const turn: Turn = { isOver: () => signal?.aborted === true || performance.now() >= until }
  if (job.projection === MIRROR) return mirrorAndWake(context, job, turn)
  const projection = projections.find(({ name }) => name === job.projection)
  if (!projection) return []
  const reached = await runProjection(pool, clickhouse, projection, job.stream, {
    turn,
    onBatch: (range, seconds) => context.onBatch?.(projection.name, job.stream, range, seconds),
  })
  return restOf(context, job, reached, turn)
}

const restOf = ({ signal }: WorkContext, job: Job, reached: number | undefined, turn: Turn): Job[] =>
  reached !== undefined && reached < job.to && turn.isOver() && !signal?.aborted ? [job] : []

async function mirrorAndWake(context: WorkContext, job: Job, turn: Turn): Promise<Job[]> {
  const { pool, clickhouse, projections, together } = context
  const concerned = projectionsOf(projections, await kindOfStream(pool, job.stream))
  let done: string[] | undefined
  // Whoever waits for a place comes first; what comes meanwhile makes the next batch the larger.
  let isTogether = false
  const isOver = () => isTogether || turn.isOver()
  const reached = await mirrorStream(
    pool,
    clickhouse,
    job.stream,
    async (batch, seconds, client) => {
      context.onBatch?.(MIRROR, job.stream, batch, seconds)
      const startedAt = performance.now()
      expectRange(clickhouse, job.stream, batch)
      const passed = await passOverUnchanged(client, concerned, job.stream, batch)
      done = passed
      if (together && canTogether(batch)) {
        isTogether = true
        const left = concerned.filter(({ name }) => !passed.includes(name))
        done = [...passed, ...(await projectTogether(together, context, left, job.stream, batch))]
      }
      for (const name of done)
        context.onBatch?.(name, job.stream, batch, (performance.now() - startedAt) / 1000)
    },
    { isOver },
  )
  if (reached === undefined) context.onHeld?.()
  // Where nothing was new nobody is woken for it again: the sweep finds what a killed worker has left.
  if (reached === undefined || (together && !done)) return []
  return [
    ...concerned
      .filter(({ name }) => !done?.includes(name))
      .map(({ name }) => ({ ...job, projection: name, to: reached })),
    ...restOf(context, job, reached, { isOver }),
  ]
}

/** A block changes rows of a few projections: the others need no job to say that they have seen it. */
async function passOverUnchanged(
  client: pg.PoolClient,
  projections: readonly Projection[],
  stream: number,
  batch: MirroredBatch,
): Promise<string[]> {
  const { types } = batch
  if (!types) return []
  const unchanged = projections.filter(projection => changesBy(projection, types).length === 0)
  return passOver(client, unchanged, stream, batch, types.has('BlockRetracted'))
}

/** Those made of streams of a kind, the longest first: begun last it would be waited for alone. */
export function projectionsOf(
  projections: readonly Projection[],
  kind: StreamKind | undefined,
): Projection[] {
  return projections
    .filter(({ streams }) => streams === kind)
    .sort((a, b) => partsOf(b).length - partsOf(a).length)
}

/** What is left to do by the cursors alone: the jobs a lost queue would have to hold. */
export async function findWork(
  pool: pg.Pool,
  projections: readonly Projection[],
  { isIdle = false }: { /** Leave out what somebody is at. */ isIdle?: boolean } = {},
): Promise<Job[]> {
  const { rows } = await pool.query<{ projection: string; stream: number; to: number }>(
    `WITH mirror AS (
       SELECT s.id AS stream, s.kind, s.head, coalesce(c.position, 0) AS mirrored
       FROM stream s LEFT JOIN checkpoint c ON c.stream = s.id AND c.projection = $1
     ), todo AS (
       SELECT $1 AS projection, stream, head AS to FROM mirror WHERE head > mirrored
       UNION ALL
       SELECT p.name, m.stream, m.mirrored FROM mirror m
       CROSS JOIN unnest($2::text[], $3::text[]) AS p(name, streams)
       LEFT JOIN checkpoint c ON c.stream = m.stream AND c.projection = p.name
       WHERE m.mirrored > coalesce(c.position, 0) AND p.streams = m.kind
     )
     SELECT projection, stream, "to" FROM todo WHERE NOT ($4 AND EXISTS (
       SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND objid::bigint = stream
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND classid::bigint = hashtext('vaultlog projection ' || projection)::bigint & 4294967295))`,
    [MIRROR, projections.map(({ name }) => name), projections.map(({ streams }) => streams), isIdle],
  )
  return rows
}

/** Does everything there is to do, in this process, without a queue: for commands and tests. */
export async function catchUpAll(context: WorkContext): Promise<void> {
  const fault = await checkReadModels(context)
  if (fault?.kind === 'lost') throw new ReadModelsLostError(fault)
  await registerProjections(context.pool, context.projections)
  for (
    let jobs = await findWork(context.pool, context.projections);
    jobs.length > 0;
    jobs = await findWork(context.pool, context.projections)
  ) {
    for (const job of jobs) await work(context, job)
    if (context.signal?.aborted) return
  }
}
