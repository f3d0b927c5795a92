import type { Queue } from 'bullmq'
import type pg from 'pg'
import { stateOf } from '../../db/chain-state.ts'
import { within } from '../../db/process/within.ts'
import { readFault } from '../../db/read-models.ts'
import {
  type DeadLetterReason,
  type ReplayStatus,
  readReplays,
  readStatus,
  readVerifications,
  type StreamStatus,
  summarizeDeadLetters,
  type VerificationStatus,
} from '../../db/status.ts'
import type { HistoryColumns, StreamHistory } from './history.ts'

export interface OpsStatus {
  /** Unix seconds. */
  at: number
  /** Chains and the registry; `age` is null for the registry. */
  streams: (Omit<StreamStatus, 'age'> & { age: number | null; chainHead: number | null; state: string })[]
  /** What is wrong with the read models; null: nothing. */
  fault: string | null
  /** Jobs by state; null where the queue does not answer. */
  queue: Record<string, number> | null
  /** Open ones, those with the newest letter first, fifty at most. */
  deadLetters: DeadLetterReason[]
  replays: ReplayStatus[]
  verifications: VerificationStatus[]
  history: HistoryColumns
}

const PATIENCE_MS = 3_000
const REASONS = 50

export async function readOps(parts: {
  pool: pg.Pool
  queue: Pick<Queue, 'getJobCounts'>
  history: StreamHistory
  heads: () => Promise<ReadonlyMap<string, number>>
}): Promise<OpsStatus> {
  const { pool, queue, history, heads } = parts
  const at = Math.round(Date.now() / 1000)
  const [streams, deadLetters, replays, verifications, counts, found, fault] = await Promise.all([
    readStatus(pool, at),
    summarizeDeadLetters(pool, REASONS),
    readReplays(pool),
    readVerifications(pool),
    countJobs(queue),
    heads(),
    readFault(pool),
  ])
  return {
    at,
    streams: streams.map(stream => {
      const head = found.get(stream.name)
      return { ...stream, age: stream.age ?? null, chainHead: head ?? null, state: stateOf(stream, head) }
    }),
    fault: fault ?? null,
    queue: counts,
    deadLetters,
    replays,
    verifications,
    history: history.columns(),
  }
}

/** The queue's client waits for a Redis that is gone; the page has more to tell than the queue. */
async function countJobs(queue: Pick<Queue, 'getJobCounts'>): Promise<Record<string, number> | null> {
  try {
    return await within(
      { ms: PATIENCE_MS },
      () => queue.getJobCounts(),
      () => null,
    )
  } catch {
    return null
  }
}
