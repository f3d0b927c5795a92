import type { Columns } from '../../db/clickhouse/rows.ts'
import { defineQuery, uint, z } from './query.ts'
import { VISIBLE_ON_CHAIN as VISIBLE } from './visible.ts'

/** Moments that are asked for together: they travel in the URL of a query. */
const MOST_TIMES = 1_000

/** What is read of the rows of one subject. `key`: SQL for them, by columns that the table is ordered by. */
export interface Subject<Row extends z.ZodRawShape> {
  name: string
  key: string
  columns: Columns<Row>
}

/**
 * The last row at or before {from} (unix seconds), and of those after it, up to {to}, the last of each `bucket`, ascending.
 *
 * @param bucket SQL of a row's `seconds_at`
 */
export function lastOfBuckets<Row extends z.ZodRawShape>(
  { name, key, columns }: Subject<Row>,
  bucket: string,
) {
  const rows = `SELECT *, toUnixTimestamp(timestamp) AS seconds_at
    FROM ${columns.table} WHERE ${VISIBLE} AND ${key}`
  const at = (time: string) => `toDateTime({${time}:UInt32}, 'UTC')`
  const last = 'ORDER BY timestamp DESC, position DESC LIMIT 1'
  return defineQuery({
    name,
    sql: `SELECT s.seconds_at AS at, s.block_number AS block, ${columns.select('s')} FROM (
        SELECT * FROM (${rows} AND timestamp <= ${at('from')} ${last})
        UNION ALL
        SELECT * FROM (${rows} AND timestamp > ${at('from')} AND timestamp <= ${at('to')} ${last} BY ${bucket})
      ) AS s ORDER BY at`,
    row: z.object({ at: uint, block: uint, ...columns.row }),
  })
}

/**
 * Of the moments {times} (unix seconds), the first of which is {from} and the last {to}: the last row of a table at or before
 * each, ascending; of those before the first row there is none.
 */
export function statesAtTimes<Row extends z.ZodRawShape>(of: Subject<Row>) {
  // A row counts for the first moment that is not before it.
  const moment = 'roundDown(seconds_at - 1, {times:Array(UInt32)})'
  return lastOfBuckets({ ...of, name: `${of.name}_at` }, moment)
}

/** Reads of many moments, ascending, what is read of some at a time. */
export async function inTimes<T>(
  times: readonly number[],
  read: (some: { times: number[]; from: number; to: number }) => Promise<T[]>,
): Promise<T[]> {
  const chunks = Array.from({ length: Math.ceil(times.length / MOST_TIMES) }, (_, i) =>
    times.slice(i * MOST_TIMES, (i + 1) * MOST_TIMES),
  )
  const found = await Promise.all(
    chunks.map(some => read({ times: some, from: some[0] ?? 0, to: some.at(-1) ?? 0 })),
  )
  return found.flat()
}
