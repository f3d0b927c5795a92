import { Redis } from 'ioredis'
import { log } from '../process/log.ts'

/** A connection for limits: a Redis that does not answer fails a request soon and does not hold it. */
export function openLimitsRedis(url: string): Redis {
  const redis = new Redis(url, {
    // What was sent may have been done although its answer was lost: sent again, a request would be charged twice.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 1_000,
    connectTimeout: 2_000,
    // One that was forgotten without being closed would let every command wait, and fail, for as long as this process lives.
    socketTimeout: 5_000,
    retryStrategy: attempt => Math.min(100 * attempt, 2_000),
  })
  redis.on('error', error => log.warn({ error: error.message }, 'limits: Redis'))
  return redis
}
