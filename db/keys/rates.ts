import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { RateLimiterPostgres, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { UnavailableError } from '../process/errors.ts'
import { createBatcher } from './batch.ts'

export const RATE_WINDOW_SECONDS = 60

/** Whether a request may go on, and what is left of its minute. */
export interface Admission {
  isAdmitted: boolean
  /** Requests per minute of the key's plan. */
  limit: number
  remaining: number
  /** Until the window ends. */
  resetMs: number
}

/** Counts requests of keys, across all processes that share the store. */
export interface RateMeter {
  /** Takes one request of the window of a key, or of whatever else is named by a text. @throws UnavailableError */
  admit(key: { id: number | string; requestsPerMinute: number }): Promise<Admission>
}

const noAnswer = (cause: unknown): never => {
  throw new UnavailableError('The store of rate limits does not answer.', { cause })
}

/**
 * A fixed window of a minute per key, that begins with its first request: in Redis where there is one, else in
 * Postgres (table rate_limit). One increment takes all requests that came together; of those, exactly as many are
 * admitted as the window has left, whatever other processes take at the same time.
 */
export function createRateMeter(
  pool: pg.Pool,
  options: { redis?: Redis; namespace?: string } = {},
): RateMeter {
  const limiters = new Map<number, RateLimiterRedis | RateLimiterPostgres>()
  // Of those that are not known by a key there may be any number.
  const queues = new LRUCache<number | string, (limit: number) => Promise<Admission>>({ max: 50_000 })
  const keyPrefix = `${options.namespace ?? 'vaultlog'}:rate`

  const limiterOf = (points: number) => {
    let limiter = limiters.get(points)
    if (!limiter) {
      const common = { points, duration: RATE_WINDOW_SECONDS, keyPrefix }
      limiter = options.redis
        ? new RateLimiterRedis({ ...common, storeClient: options.redis })
        : new RateLimiterPostgres({
            ...common,
            storeClient: pool,
            storeType: 'pool',
            tableName: 'rate_limit',
            tableCreated: true,
            clearExpiredByTimeout: false,
          })
      limiters.set(points, limiter)
    }
    return limiter
  }

  const consume = async (limit: number, id: string, points: number): Promise<RateLimiterRes> => {
    try {
      return await limiterOf(limit).consume(id, points)
    } catch (error) {
      return error instanceof RateLimiterRes ? error : noAnswer(error)
    }
  }

  const take = async (id: number | string, limits: readonly number[]): Promise<Admission[]> => {
    const limit = limits.at(-1) ?? 0
    const asked = limits.length
    let state = await consume(limit, String(id), asked)
    if (state.msBeforeNext > 2_000 * RATE_WINDOW_SECONDS) {
      // No window is that long: it began by a clock that has been set back since.
      await limiterOf(limit).delete(String(id)).catch(noAnswer)
      state = await consume(limit, String(id), asked)
    }
    const before = state.consumedPoints - asked
    return limits.map((_, i) => ({
      isAdmitted: before + i + 1 <= limit,
      limit,
      remaining: Math.max(0, limit - (before + i + 1)),
      resetMs: state.msBeforeNext,
    }))
  }

  return {
    admit({ id, requestsPerMinute }) {
      let queue = queues.get(id)
      if (!queue) {
        queue = createBatcher((limits: readonly number[]) => take(id, limits), {
          missing: () => new UnavailableError('The store of rate limits gave no answer.'),
        })
        queues.set(id, queue)
      }
      return queue(requestsPerMinute)
    },
  }
}
