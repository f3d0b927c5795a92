import type { JobsOptions } from 'bullmq'
import { z } from 'zod'
import { openQueueBackend } from './queues.ts'

/** The staging step, which has a job and a checkpoint like a projection. */
export const MIRROR = 'event'

/**
 * The payload of a job: a wake-up, nothing more. `projection` on `stream` has something to do, at least up to `to`.
 * Cursors in Postgres decide what is really left, so a lost, late or repeated job changes nothing.
 */
export const jobSchema = z.strictObject({
  projection: z.string(),
  stream: z.number().int(),
  to: z.number().int().positive(),
})
export type Job = z.infer<typeof jobSchema>

export const QUEUE = 'project'

const options: JobsOptions = {
  removeOnComplete: true,
  removeOnFail: 1000,
  attempts: 4,
  backoff: { type: 'exponential', delay: 250 },
}

interface AddedJob {
  name: string
  data: Job
  opts: JobsOptions
}

/**
 * A job as the queue takes it. Of a projection on a stream one waits at most: it does what all who came meanwhile have asked for.
 * Where one is at work, the next begins behind it.
 */
export const asAdded = (job: Job): AddedJob => ({
  name: job.projection,
  data: job,
  opts: { ...options, deduplication: { id: nameOf(job), keepLastIfActive: true } },
})

/** A job whose namesake may stand in the queue with a dead worker; once in a round. BullMQ takes no `:` in an id. */
export const asAddedAgain = (job: Job, round: number): AddedJob => ({
  name: job.projection,
  data: job,
  opts: { ...options, jobId: `${nameOf(job)}.${round}` },
})

/** Projection and stream: what a job is for. */
export const nameOf = ({ projection, stream }: Pick<Job, 'projection' | 'stream'>): string =>
  `${projection}.${stream}`

export interface WakeUps {
  /** Wakes the worker; resolves when the queue has it. */
  add(jobs: readonly Job[]): Promise<void>
  close(): Promise<void>
}

/** The producing side of the queue, for processors. */
export function openWakeUps(env: {
  REDIS_URL?: string
  REDIS_PREFIX?: string
  databaseUrl: string
}): WakeUps {
  const backend = openQueueBackend(env)
  const queue = backend.createQueue<Job>(QUEUE)
  return {
    async add(jobs) {
      await queue.addBulk(jobs.map(asAdded))
    },
    close: () => backend.close(),
  }
}
