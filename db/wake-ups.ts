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

/** BullMQ takes no `:` in an id and drops a job whose id it knows: the id says what is to be done, up to where. */
export function jobId({ projection, stream, to }: Job, round?: number): string {
  return `${projection}.${stream}.${to}${round === undefined ? '' : `.${round}`}`
}

export const jobOptions = {
  removeOnComplete: true,
  removeOnFail: 1000,
  attempts: 4,
  backoff: { type: 'exponential', delay: 250 },
} as const

export interface WakeUps {
  /** Wakes the worker; resolves when the queue has it. */
  add(jobs: readonly Job[], round?: number): Promise<void>
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
    async add(jobs, round) {
      if (jobs.length === 0) return
      await queue.addBulk(
        jobs.map(job => ({
          name: job.projection,
          data: job,
          opts: { ...jobOptions, jobId: jobId(job, round) },
        })),
      )
    },
    close: () => backend.close(),
  }
}
