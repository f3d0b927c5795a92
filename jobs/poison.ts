import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import type pg from 'pg'
import { identifier } from '../db/clickhouse/migrate.ts'
import { log } from '../db/process/log.ts'
import type { Projection } from './projection.ts'

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

/** Leaves events out wherever a statement reads them; `event` is the staging table, or the view on it in a shadow. */
export function withoutEvents(stream: number, positions: readonly number[]): Record<string, string> {
  if (positions.length === 0) return {}
  const condition = `NOT (stream = ${Number(stream)} AND position IN (${positions.map(Number).join(', ')}))`
  return { additional_table_filters: `{'event': '${condition}'}` }
}

/**
 * Applies a range without the events that the projection's SQL cannot digest. Each is a dead letter that names it, by
 * which a replay leaves the same ones out; a higher version of the projection tries them again.
 */
export async function applyWithoutPoison(
  pool: pg.Pool | pg.PoolClient,
  clickhouse: ClickHouseClient,
  projection: Projection,
  stream: number,
  range: { from: number; to: number },
  apply: (without: readonly number[]) => Promise<void>,
): Promise<void> {
  const poison = await readPoison(pool, projection, stream)
  while (true) {
    try {
      return await apply(poison)
    } catch (error) {
      if (!isOfData(error) || poison.length >= MOST) throw error
      const position = await findPoison(clickhouse, projection, stream, range, poison)
      if (position === undefined) throw error
      await keepPoison(pool, projection, stream, position, error)
      poison.push(position)
    }
  }
}

async function readPoison(
  pool: pg.Pool | pg.PoolClient,
  { name, version }: Projection,
  stream: number,
): Promise<number[]> {
  const { rows } = await pool.query<{ position: number }>(
    `SELECT (payload->>'position')::bigint AS position FROM dead_letter
     WHERE stage = 'project' AND stream = $1 AND payload @> jsonb_build_object('poisoned', $2::text, 'version', $3::int)`,
    [stream, name, version],
  )
  return rows.map(({ position }) => position)
}

/**
 * The first event with which the projection's own view fails. Undefined where it does not, or even without any event:
 * a companion then fails upon rows that are there already, or the view is broken.
 */
async function findPoison(
  clickhouse: ClickHouseClient,
  { name }: Projection,
  stream: number,
  { from, to }: { from: number; to: number },
  without: readonly number[],
): Promise<number | undefined> {
  const fails = async (end: number): Promise<boolean> => {
    try {
      await clickhouse.command({
        query: `SELECT * FROM ${identifier(name)}_rows(stream = ${Number(stream)}, from = ${Number(from)}, to = ${Number(end)}) FORMAT Null`,
        clickhouse_settings: { ...withoutEvents(stream, without), log_comment: `poison of ${name}` },
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
  { name, version }: Projection,
  stream: number,
  position: number,
  error: ClickHouseError,
): Promise<void> {
  const reason = `${name} (version ${version}) cannot digest position ${position} and goes on without it: ${error.message}`
  const { rows } = await pool.query(
    `INSERT INTO dead_letter (stage, stream, block_number, block_hash, tx_hash, log_index, contract, reason, payload)
     SELECT 'project', stream, block_number, '0x' || encode(block_hash, 'hex'), '0x' || encode(tx_hash, 'hex'), log_index,
       '0x' || encode(contract, 'hex'), $3,
       jsonb_build_object('poisoned', $4::text, 'version', $5::int, 'position', position, 'type', type, 'data', data)
     FROM event_log WHERE stream = $1 AND position = $2
     ON CONFLICT DO NOTHING
     RETURNING block_number AS block, log_index AS "logIndex", contract`,
    [stream, position, reason, name, version],
  )
  log.error({ projection: name, stream, position, ...rows[0], reason: error.message }, 'poison event')
}
