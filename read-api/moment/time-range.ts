import { RefusedError } from '../http/errors.ts'
import type { Granularity } from '../vaults/history-queries.ts'
import { SECONDS } from '../vaults/history-queries.ts'
import type { Moment } from './snapshot.ts'

export const SECONDS_OF_DAY = 86_400

/** The last second that ClickHouse's DateTime can say. */
export const LAST_SECOND = 4_294_967_295

/**
 * Unix seconds, both inclusive; absent bounds are open. A window that begins in the future is refused: it is most often one in
 * milliseconds.
 */
export function readRange(
  query: { fromTimestamp?: number; toTimestamp?: number },
  moment: Moment,
): { from: number; to: number } {
  const { fromTimestamp = 0, toTimestamp = LAST_SECOND } = query
  refuseFuture('fromTimestamp', fromTimestamp, moment)
  return { from: Math.min(fromTimestamp, LAST_SECOND), to: Math.min(toTimestamp, LAST_SECOND) }
}

/** A moment that neither a chain nor the clock has reached. `name`: of the parameter. */
export function refuseFuture(name: string, timestamp: number, { chains }: Moment): void {
  const newest = Math.max(Date.now() / 1000, ...[...chains.values()].map(({ blockTime }) => blockTime))
  if (timestamp > newest || timestamp > LAST_SECOND)
    throw new RefusedError(`"${name}" (${timestamp}) is in the future. It is unix time in seconds.`)
}

/** The buckets that begin inside a range: the start of the first, and the end of the last, exclusive. */
export function bucketRange(range: { from: number; to: number }, granularity: Granularity) {
  const seconds = SECONDS[granularity]
  return {
    from: Math.min(Math.ceil(range.from / seconds) * seconds, LAST_SECOND),
    to: Math.min((Math.floor(range.to / seconds) + 1) * seconds, LAST_SECOND),
  }
}
