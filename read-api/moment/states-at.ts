import type { Columns } from '../../db/clickhouse/rows.ts'
import { defineQuery, uint, z } from './query.ts'
import { VISIBLE_ON_CHAIN as VISIBLE } from './visible.ts'

/** Moments that are asked for together: they travel in the URL of a query. */
const MOST_TIMES = 1_000

/**
 * Of the moments {times} (unix seconds), the first of which is {from} and the last {to}: the last row of a table at or before
 * each, ascending; of those before the first row there is none. `key`: SQL for the rows of one subject.
 */
export function statesAtTimes<Row extends z.ZodRawShape>({
  name,
  key,
  columns,
}: {
  name: string
  key: string
  columns: Columns<Row>
}) {
  const of = `${columns.table} WHERE ${VISIBLE} AND ${key}`
  const at = (time: string) => `toDateTime({${time}:UInt32}, 'UTC')`
  const rows = `SELECT *, toUnixTimestamp(timestamp) AS seconds_at, 1 AS one FROM ${of}`
  return defineQuery({
    name: `${name}_at`,
    sql: `SELECT last.1 AS at, last.2 AS block, ${columns.fromTuple('last', 3)}
      FROM (
        SELECT argMax((s.seconds_at, s.block_number, ${columns.list('s')}), (s.seconds_at, s.position)) AS last
        FROM (${rows} AND timestamp <= ${at('to')} AND timestamp >= (
          SELECT max(timestamp) FROM ${of} AND timestamp <= ${at('from')})) AS s
        ASOF INNER JOIN (SELECT arrayJoin({times:Array(UInt32)}) AS moment, 1 AS one) AS asked
          ON s.one = asked.one AND s.seconds_at <= asked.moment
        GROUP BY asked.moment)
      ORDER BY at`,
    row: z.object({ at: uint, block: uint, ...columns.row }),
  })
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
