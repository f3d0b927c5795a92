import type { ClickHouseClient } from '@clickhouse/client'
import type { Queue } from 'bullmq'
import type pg from 'pg'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import { storeDeadLetters } from '../db/dead-letters.ts'
import { log } from '../db/process/log.ts'
import { steadyNow } from '../db/process/steady.ts'
import { Turns } from '../db/process/turns.ts'
import { openQueueBackend } from '../db/queues.ts'
import type { ReadModelGuard } from '../db/read-models.ts'
import { asAdded, asAddedAgain, type Job, jobSchema, MIRROR, nameOf, QUEUE } from '../db/wake-ups.ts'
import { registerProjections } from './checkpoints.ts'
import { Compaction } from './compaction.ts'
import { checkLedgers } from './ledgers.ts'
import { exposeStatus, observeBatch, observeFailure } from './metrics.ts'
import { Pace } from './pace.ts'
import type { Projection } from './projection.ts'
import { NeedsReplayError } from './runner.ts'
import { findWork, type WorkContext, work } from './work.ts'

export interface WorkerOptions {
  pool: pg.Pool
  clickhouse: ClickHouse
  projections: readonly Projection[]
  /** Price feeds that processors are to follow, by chain: their age is told. */
  feeds?: ReadonlyMap<number, ReadonlySet<string>>
  queue: { REDIS_URL?: string; REDIS_PREFIX?: string; databaseUrl: string }
  /** Jobs at one time. */
  concurrency: number
  /** Whether the read models may be added to; absent: nobody looks. */
  guard?: ReadModelGuard
}

/** How often the cursors are looked at for work that no job told of. */
const SWEEP_MS = 1_000
/** After this long it is tried again whether a projection still waits for its replay. */
const RETRY_MS = 60_000
/** After this long a stream that another worker held is looked at again: it may have seen less than there is. */
const HELD_MS = 250
/** How long one projection may keep others waiting. */
const TURN_MS = 5_000
/** How often the ledgers are held against the sampled supplies: samples come hourly. */
const LEDGERS_MS = 3_600_000
/** Clocks of several machines may be that far apart. */
const APART_MS = 10_000
/** A job of the same name may stand in the queue with a dead worker: once in this time it is given again all the same. */
const ROUND_MS = 5_000

/**
 * Takes wake-ups from the queue, and looks at the cursors every second besides: with every job lost, everything is
 * still done. Any number of workers share the load; a lock per projection and stream keeps their order.
 */
export function startWorker(options: WorkerOptions): { stop(): Promise<void> } {
  const { pool, projections, guard } = options
  const { client: clickhouse } = options.clickhouse
  const isLost = () => guard?.fault?.kind === 'lost'
  const stopping = new AbortController()
  const backend = openQueueBackend(options.queue)
  const queue = backend.createQueue<Job>(QUEUE)
  const needReplay = new Set<string>()
  exposeStatus({ pool, clickhouse, queue, projections, feeds: options.feeds ?? new Map() })

  const enqueue = async (jobs: readonly Job[], add: typeof asAdded = asAdded): Promise<void> => {
    const wanted = jobs.filter(job => !needReplay.has(nameOf(job)))
    if (wanted.length > 0) await queue.addBulk(wanted.map(add))
  }

  const together = new Turns(options.concurrency)
  const context = {
    pool,
    clickhouse,
    projections,
    together,
    signal: stopping.signal,
    turnMs: TURN_MS,
    onBatch: noteBatch,
  }
  const pace = new Pace(job => {
    enqueue([job]).catch((error: Error) =>
      log.warn({ ...job, error: error.message }, 'could not be given again; the sweep will'),
    )
  })

  const worker = backend.createWorker<Job, void>(
    QUEUE,
    async ({ data, attemptsMade, opts }) => {
      const job = jobSchema.parse(data)
      // What is on top of a gap would be taken for whole. The sweep gives the job again.
      if (isLost()) return
      try {
        await enqueue(await workPaced(context, pace, job))
      } catch (error) {
        if (error instanceof NeedsReplayError) {
          needReplay.add(nameOf(job))
          log.error({ projection: job.projection, stream: job.stream, code: error.code }, error.message)
          return
        }
        observeFailure(job)
        log.warn({ ...job, attempt: attemptsMade + 1, error: (error as Error).message }, 'job failed')
        if (attemptsMade + 1 >= (opts.attempts ?? 1)) await keepDeadLetter(pool, job, error as Error)
        throw error
      }
    },
    // After a failure of the queue BullMQ would rest for 15 seconds; the databases are back sooner.
    { concurrency: options.concurrency, runRetryDelay: 1_000 },
  )

  const sweeps = startSweeps(options, {
    queue,
    enqueue,
    forgetReplays: () => needReplay.clear(),
    signal: stopping.signal,
  })

  return {
    async stop() {
      stopping.abort()
      await sweeps.stop()
      await worker.close()
      pace.stop()
      await backend.close()
      await sweeps.compacted()
    },
  }
}

/** The mirror rests as long as it has worked; everything else is done as it comes. */
async function workPaced(context: WorkContext, pace: Pace, job: Job): Promise<Job[]> {
  if (job.projection !== MIRROR) return work(context, job)
  if (!pace.begin(job)) return []
  const startedAt = performance.now()
  let rest: number | undefined
  try {
    return await work({ ...context, onHeld: () => (rest = HELD_MS) }, job)
  } finally {
    pace.end(job.stream, rest ?? performance.now() - startedAt, rest === undefined ? undefined : job)
  }
}

interface Sweeps {
  queue: Queue<Job>
  enqueue(jobs: readonly Job[], add?: typeof asAdded): Promise<void>
  /** Whether projections that wait for a replay still do is to be found out again. */
  forgetReplays(): void
  /** Ends the sweeps. */
  signal: AbortSignal
}

/** Looks, every second, for work that no job told of, and for what has healed or gone wrong meanwhile. */
function startSweeps(options: WorkerOptions, { queue, enqueue, forgetReplays, signal }: Sweeps) {
  const { pool, clickhouse, projections, guard } = options
  let timer: NodeJS.Timeout | undefined
  let forgetAt = 0
  let ledgersAt = 0
  let isRegistered = false
  const compaction = new Compaction({ pool, clickhouse, projections })
  let compacting: Promise<void> | undefined
  const warn = (error: Error) => log.warn({ error: error.message }, 'could not look for work, trying again')
  let sweeping: Promise<void> = Promise.resolve()

  const giveAgain = async () => {
    const found = await findWork(pool, projections, { isIdle: true })
    if (found.length === 0) return
    await promoteAhead(queue)
    const active = new Set((await queue.getActive()).map(({ data }) => nameOf(data)))
    await enqueue(found.filter(job => !active.has(nameOf(job))))
    // Active, and nobody is at it: with a dead worker, as a rule.
    const stuck = found.filter(job => active.has(nameOf(job)))
    if (stuck.length === 0) return
    const waiting = new Set((await queue.getJobs(['waiting', 'delayed'])).map(({ data }) => nameOf(data)))
    const round = Math.floor(Date.now() / ROUND_MS)
    await enqueue(
      stuck.filter(job => !waiting.has(nameOf(job))),
      job => asAddedAgain(job, round),
    )
  }
  const look = async () => {
    await resolveDeadLetters(pool)
    await forgetHealed(pool, queue)
    if (steadyNow() >= forgetAt) {
      forgetReplays()
      forgetAt = steadyNow() + RETRY_MS
    }
    if (!isRegistered) await registerProjections(pool, projections)
    isRegistered = true
    if (guard?.fault?.kind === 'lost') return
    await giveAgain()
    if (steadyNow() >= ledgersAt) {
      ledgersAt = steadyNow() + LEDGERS_MS
      await lookAtLedgers(pool, clickhouse.client)
    }
    // On a large table it takes its time, and lost jobs are not to wait for it.
    compacting ??= compaction
      .turn(signal)
      .catch(warn)
      .finally(() => {
        compacting = undefined
      })
  }
  const sweep = async () => {
    await look().catch(warn)
    if (signal.aborted) return
    timer = setTimeout(() => {
      sweeping = sweep()
    }, SWEEP_MS)
  }
  sweeping = sweep()

  return {
    async stop(): Promise<void> {
      clearTimeout(timer)
      await sweeping
    },
    /** What is being taken out of a large table takes its time: waited for last. */
    compacted: async () => compacting,
  }
}

/** Jobs that failed by a clock that has been set back since: they would be tried again, and keep their namesakes out, when it is that late once more. */
async function promoteAhead(queue: Queue<Job>): Promise<void> {
  const delayed = await queue.getDelayed()
  const ahead = delayed.filter(({ processedOn = 0 }) => processedOn > Date.now() + APART_MS)
  // One that another worker was quicker with is no failure.
  await Promise.allSettled(ahead.map(job => job.promote()))
}

/** A batch that cannot be applied stays where it is and is tried again; the operator sees it here. */
async function keepDeadLetter(pool: pg.Pool, job: Job, error: Error): Promise<void> {
  const stage = job.projection === 'event' ? 'mirror' : 'project'
  const { stream, projection: contract } = job
  await storeDeadLetters(pool, [{ stage, stream, contract, reason: error.message, payload: job }])
}

/** A batch that failed for a while and has been applied since is no operator's business any more. */
async function resolveDeadLetters(pool: pg.Pool): Promise<void> {
  await pool.query(
    `UPDATE dead_letter d SET resolved_at = clock_timestamp() FROM checkpoint c
     WHERE d.resolved_at IS NULL AND d.stage IN ('mirror', 'project') AND c.stream = d.stream
       AND c.projection = d.contract AND c.position >= (d.payload->>'to')::bigint`,
  )
}

/** How many failed jobs are looked at in one go. */
const FAILED_AT_ONCE = 100

/** A job that failed and whose work was done by another since is no failure any more: it leaves the queue's pages. */
async function forgetHealed(pool: pg.Pool, queue: Queue<Job>): Promise<void> {
  const failed = await queue.getFailed(0, FAILED_AT_ONCE - 1)
  if (failed.length === 0) return
  const { rows } = await pool.query<{ projection: string; stream: number; position: number }>(
    'SELECT projection, stream, position FROM checkpoint',
  )
  const reached = new Map(rows.map(row => [nameOf(row), row.position]))
  for (const job of failed) if ((reached.get(nameOf(job.data)) ?? 0) >= job.data.to) await job.remove()
}

function noteBatch(
  projection: string,
  stream: number,
  { from, to }: { from: number; to: number },
  seconds: number,
): void {
  observeBatch(projection, stream, { from, to }, seconds)
  log.debug({ projection, stream, from, to, ms: Math.round(seconds * 1000) }, 'batch')
}

async function lookAtLedgers(pool: pg.Pool, clickhouse: ClickHouseClient): Promise<void> {
  const differing = await checkLedgers(pool, clickhouse)
  if (differing.length > 0) log.warn({ vaults: differing.length }, 'ledgers do not add up to their supply')
}
