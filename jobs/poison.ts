import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import type pg from 'pg'
import { identifier, internalView } from '../db/clickhouse/migrate.ts'
import { storeDeadLetters } from '../db/dead-letters.ts'
import { readEvents } from '../db/events/event-store.ts'
import { groupBy } from '../db/group-by.ts'
import { log } from '../db/process/log.ts'
import { type Companion, type Projection, partsOf } from './projection.ts'
import type { Range } from './ranges.ts'

/** Errors of ClickHouse that lie in the data: the same statement over the same events fails at any time. */
const OF_DATA = new Set([
  'ARGUMENT_OUT_OF_BOUND',
  'CANNOT_CONVERT_TYPE',
  'CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN',
  'CANNOT_PARSE_DATE',
  'CANNOT_PARSE_DATETIME',
  'CANNOT_PARSE_INPUT_ASSERTION_FAILED',
  'CANNOT_PARSE_NUMBER',
  'CANNOT_PARSE_TEXT',
  'DECIMAL_OVERFLOW',
  'ILLEGAL_DIVISION',
  'INCORRECT_DATA',
  'VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE',
])

/** With more than these it is not the events that are at fault but the projection, which then waits to be mended. */
const MOST = 100

const isOfData = (error: unknown): error is ClickHouseError =>
  error instanceof ClickHouseError && OF_DATA.has(error.type ?? '')

/**
 * Positions left out, by the part whose SQL cannot digest them. Those of a projection's own are left out of all its tables; a
 * companion goes on without its own, while the tables before it have them.
 */
export type Poison = Map<string, number[]>

/** Which events a part is made of: those at (from, to] but, where it has forks, what they took back of it. */
export type EventRange = Pick<Range, 'from' | 'to' | 'hasForks' | 'isRepeated'>

/** A part of a projection on one stream. */
export interface Filled {
  projection: Projection
  part: Companion
  stream: number
}

/** What a part is made without. */
function leftOut({ projection, part }: Filled, poison: Poison): number[] {
  return [...new Set([projection.name, part.name])].flatMap(name => poison.get(name) ?? [])
}

/**
 * Leaves events out wherever the statement of a part reads them: in the staging table, or the view on it in a shadow, and in
 * the tables before it. Those that the range's own forks took back have no rows in tables before it.
 */
export function withoutEvents(
  filled: Filled,
  { from, to, hasForks }: EventRange,
  positions: readonly number[],
): Record<string, string> {
  const stream = Number(filled.stream)
  const left: [table: string, key: string, positions: string][] = []
  if (hasForks)
    left.push([
      'event',
      'stream',
      `SELECT position FROM retracted WHERE stream = ${stream} AND position > ${Number(from)} AND retracted_by <= ${Number(to)}`,
    ])
  if (positions.length > 0) {
    const listed = positions.map(Number).join(', ')
    left.push(['event', 'stream', listed])
    for (const { name, into } of partsOf(filled.projection)) {
      if (name === filled.part.name) break
      if (!into) left.push([identifier(name), 'chain_id', listed])
    }
  }
  if (left.length === 0) return {}
  const filters = [...groupBy(left, ([table]) => table)].map(([table, each]) => {
    const conditions = each.map(
      ([, key, which]) => `NOT (${key} = ${stream} AND position GLOBAL IN (${which}))`,
    )
    return `'${table}': '${conditions.join(' AND ')}'`
  })
  return { additional_table_filters: `{${filters.join(', ')}}` }
}

/**
 * Fills a part's table over a range without the events that its SQL cannot digest. Each is a dead letter that names it, by which a
 * replay leaves the same ones out; a higher version of the projection tries them again. `poison` takes up what is found.
 */
export async function fillWithoutPoison(
  pool: pg.Pool | pg.PoolClient,
  clickhouse: ClickHouseClient,
  filled: Filled,
  range: EventRange,
  poison: Poison,
  fill: (without: readonly number[]) => Promise<void>,
): Promise<void> {
  while (true) {
    try {
      return await fill(leftOut(filled, poison))
    } catch (error) {
      const known = [...poison.values()].reduce((sum, { length }) => sum + length, 0)
      if (!isOfData(error) || known >= MOST) throw error
      const position = await findPoison(clickhouse, filled, range, leftOut(filled, poison))
      if (position === undefined) throw error
      await keepPoison(pool, filled, position, error)
      poison.set(filled.part.name, [...(poison.get(filled.part.name) ?? []), position])
    }
  }
}

/** What the parts of a projection are made without on a stream, as its dead letters say. */
export async function readPoison(
  pool: pg.Pool | pg.PoolClient,
  projection: Projection,
  stream: number,
): Promise<Poison> {
  const { rows } = await pool.query<{ part: string; position: number }>(
    `SELECT payload->>'poisoned' AS part, (payload->>'position')::bigint AS position FROM dead_letter
     WHERE stage = 'project' AND stream = $1 AND payload->>'poisoned' = ANY ($2) AND payload @> jsonb_build_object('version', $3::int)
     ORDER BY position`,
    [stream, partsOf(projection).map(({ name }) => name), projection.version],
  )
  const parts = [...groupBy(rows, ({ part }) => part)]
  return new Map(parts.map(([part, all]) => [part, all.map(({ position }) => position)]))
}

/**
 * The first event with which the part's view fails. Undefined where it does not, or even without any event: it then fails
 * upon rows that are there already, or is broken.
 */
async function findPoison(
  clickhouse: ClickHouseClient,
  filled: Filled,
  range: EventRange,
  without: readonly number[],
): Promise<number | undefined> {
  const { part, stream } = filled
  const { from, to } = range
  const fails = async (end: number): Promise<boolean> => {
    try {
      await clickhouse.command({
        query: `SELECT * FROM ${internalView(clickhouse, `${part.name}_rows`)}(stream = ${Number(stream)}, from = ${Number(from)}, to = ${Number(end)}) FORMAT Null`,
        clickhouse_settings: {
          ...withoutEvents(filled, range, without),
          log_comment: `poison of ${part.name}`,
        },
      })
      return false
    } catch (error) {
      if (isOfData(error)) return true
      throw error
    }
  }
  if (!(await fails(to)) || (await fails(from))) return undefined
  let [sound, failing] = [from, to]
  while (failing - sound > 1) {
    const middle = Math.floor((sound + failing) / 2)
    if (await fails(middle)) failing = middle
    else sound = middle
  }
  return failing
}

async function keepPoison(
  pool: pg.Pool | pg.PoolClient,
  { projection: { name, version }, part, stream }: Filled,
  position: number,
  error: ClickHouseError,
): Promise<void> {
  const reason = `${part.name} (version ${version}) cannot digest position ${position} and goes on without it: ${error.message}`
  const [event] = await readEvents(pool, stream, { after: position - 1, to: position })
  if (!event) return
  const { block_number: block, block_hash: hash, type, data } = event
  const at = { block, logIndex: event.log_index ?? undefined, contract: event.contract ?? undefined }
  const payload = { poisoned: part.name, version, position, type, data }
  await storeDeadLetters(pool, [
    { stage: 'project', stream, ...at, hash, tx: event.tx_hash ?? undefined, reason, payload },
  ])
  log.error(
    { projection: name, part: part.name, stream, position, ...at, reason: error.message },
    'poison event',
  )
}
