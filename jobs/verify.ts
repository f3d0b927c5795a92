import type pg from 'pg'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import { identifier } from '../db/clickhouse/migrate.ts'
import { VaultlogError } from '../db/process/errors.ts'
import { MIRROR } from '../db/wake-ups.ts'
import { type Checkpoint, readCheckpoint, type StreamRow } from './checkpoints.ts'
import { type Projection, partsOf, tablesOf } from './projection.ts'
import {
  alone,
  buildShadow,
  catchUpWhole,
  concerns,
  dropShadow,
  holdingLocks,
  ReplayInterrupted,
  type ReplayOptions,
} from './replay.ts'

export interface Comparison {
  what: string
  stream: string
  expected: Sum
  found: Sum
  equal: boolean
  /** Where it differs: the first ranges, in words. */
  where?: string
}

class VerifyInterrupted extends VaultlogError {
  readonly code = 'VERIFY_INTERRUPTED'
  constructor() {
    super('Interrupted. Nothing was changed, and nothing is known yet; the same command begins anew.')
  }
}

interface Sum {
  rows: number
  checksum: string
}

/**
 * Proves that the read models are values of the streams: every stream's events are the same in Postgres and in
 * ClickHouse, and every live table has the rows that a replay from nothing makes. Reads only; the replay goes to a
 * database of its own, which is dropped afterwards. Of a stream whose events differ no table can be proven: none is compared.
 */
export async function verify(options: ReplayOptions): Promise<Comparison[]> {
  const shadow = options.clickhouse.in(`${options.clickhouse.database}_verify`)
  try {
    if (options.streams.length === 0) return []
    return await alone(options.pool, shadow, async () => {
      try {
        // What a killed one has left is of another moment.
        await dropShadow(options, shadow)
        return await compareAll(options, shadow)
      } finally {
        // Where a database is gone the first error is the one to tell; the next verification begins by dropping.
        await dropShadow(options, shadow).catch(() => {})
      }
    })
  } catch (error) {
    throw error instanceof ReplayInterrupted ? new VerifyInterrupted() : error
  } finally {
    await shadow.close()
  }
}

async function compareAll(all: ReplayOptions, shadow: ClickHouse): Promise<Comparison[]> {
  const comparisons: Comparison[] = []
  const options: ReplayOptions & { streams: StreamRow[] } = { ...all, streams: [], leaveOut: 'all' }
  for (const stream of all.streams) {
    const staging = await compareStaging(options.pool, options.clickhouse, stream.id, stream.name)
    if (staging.equal) options.streams.push(stream)
    else
      staging.where = `${await findInStaging(options.pool, options.clickhouse, stream.id)}; tables of this stream are not compared`
    comparisons.push(staging)
    comparisons.push(await compareRetracted(options.pool, options.clickhouse, stream.id, stream.name))
  }
  await buildShadow(options, shadow)
  for (const projection of options.projections) {
    const streams = options.streams.filter(stream => concerns(projection, stream))
    await holdingLocks(options, projection, streams, async live => {
      for (const stream of streams) {
        const checkpoint = live.get(stream.id)
        await catchUpWhole(options, shadow, projection, stream, checkpoint)
        for (const table of tablesOf(projection)) {
          const compared = comparedOf(projection, table, stream.id, checkpoint)
          const expected = await sumOf(shadow, table, compared)
          const found = await sumOf(options.clickhouse, table, compared)
          const comparison = compare(table, stream.name, expected, found)
          if (!comparison.equal)
            comparison.where = await findInTable(shadow, options.clickhouse, table, compared)
          comparisons.push(comparison)
        }
      }
    })
  }
  return comparisons
}

/** Notes the outcome for the operator: metrics and the status page say what was verified last, and what differed. */
export async function keepComparisons(pool: pg.Pool, comparisons: readonly Comparison[]): Promise<void> {
  await pool.query(
    `INSERT INTO verification (table_name, stream, is_equal, checked_at)
     SELECT c->>'what', c->>'stream', (c->>'equal')::boolean, clock_timestamp() FROM jsonb_array_elements($1::jsonb) c
     ON CONFLICT (table_name, stream) DO UPDATE SET is_equal = excluded.is_equal, checked_at = excluded.checked_at`,
    [JSON.stringify(comparisons.map(({ what, stream, equal }) => ({ what, stream, equal })))],
  )
}

function compare(what: string, stream: string, expected: Sum, found: Sum): Comparison {
  return {
    what,
    stream,
    expected,
    found,
    equal: expected.rows === found.rows && expected.checksum === found.checksum,
  }
}

/** What of a table has to be equal: expressions over its rows, and a condition for them. */
interface Compared {
  figures: string
  where: string
  /** A head's rows are told by their vault: the block that they name may be another. */
  isHead?: boolean
}

/**
 * Of events that retractions behind the last compaction took back there may be rows or not, as batches happened to be cut, and readers
 * leave them out; before it there may be none. For the same reason heads may name another last change, but have the same figures.
 */
function comparedOf(
  projection: Projection,
  table: string,
  stream: number,
  live: Checkpoint | undefined,
): Compared {
  if (projection.streams === 'registry') return { figures: '*', where: 'true' }
  const where = `chain_id = ${Number(stream)}`
  const part = partsOf(projection).find(({ name }) => name === table)
  if (part?.isHead)
    return {
      figures: '* EXCEPT (position, block_number, timestamp)',
      where: `${where} AND NOT (${part.emptyWhere})`,
      isHead: true,
    }
  const { position = 0, compacted = 0 } = live ?? {}
  return {
    figures: '*',
    where: `${where} AND position NOT IN (SELECT position FROM retracted
      WHERE stream = ${Number(stream)} AND retracted_by > ${Number(compacted)} AND retracted_by <= ${Number(position)})`,
  }
}

const sumOfRows = (figures: string) => `toString(sum(cityHash64(toString(tuple(${figures})))))`

/** Rows and an order-independent checksum over what is compared of a read model, duplicates of a repeated insert merged. */
async function sumOf(clickhouse: ClickHouse, table: string, { figures, where }: Compared): Promise<Sum> {
  const [row] = await clickhouse.query<{ rows: string; checksum: string }>(
    'verify',
    `SELECT toString(count()) AS rows, ${sumOfRows(figures)} AS checksum FROM ${identifier(table)} FINAL WHERE ${where}`,
  )
  return { rows: Number(row?.rows ?? 0), checksum: row?.checksum ?? '0' }
}

/** A sum over the same text of every event, as Postgres and as ClickHouse reckon it. */
const STORE_SUM = `coalesce(sum(('x' || left(md5(concat_ws('|', e.position, type, protocol, block_number, encode(block_hash, 'hex'), block_time,
         coalesce(encode(tx_hash, 'hex'), ''), coalesce(log_index, 4294967295), coalesce(encode(contract, 'hex'), ''), data)), 15))::bit(60)::bigint), 0)::text`
const MIRROR_SUM = `toString(sum(toUInt128(reinterpretAsUInt64(reverse(unhex(concat('0', left(lower(hex(MD5(concatWithSeparator('|',
       toString(position), type, protocol, toString(block_number), substring(block_hash, 3), toString(toUnixTimestamp(timestamp)),
       substring(tx_hash, 3), toString(log_index), substring(contract, 3), data)))), 15))))))))`

/** The same sum over the same text of every event up to the mirror's checkpoint, reckoned by either database. */
async function compareStaging(
  pool: pg.Pool,
  clickhouse: ClickHouse,
  stream: number,
  name: string,
): Promise<Comparison> {
  const { position } = await readCheckpoint(pool, MIRROR, stream)
  const { rows } = await pool.query<Sum>(
    `SELECT count(*)::int AS rows, ${STORE_SUM} AS checksum FROM stored_events($1, 0, $2) e`,
    [stream, position],
  )
  const expected = rows[0] ?? { rows: 0, checksum: '0' }
  const [found] = await clickhouse.query<{ rows: string; checksum: string }>(
    'verify',
    `SELECT toString(count()) AS rows, ${MIRROR_SUM} AS checksum
     FROM event FINAL WHERE stream = {stream:Int32} AND position <= {position:UInt64}`,
    { stream, position },
  )
  return compare(MIRROR, name, expected, {
    rows: Number(found?.rows ?? 0),
    checksum: found?.checksum ?? '0',
  })
}

const POSITIONS = 10_000
const BLOCKS = 1_000
const NAMED = 5

/** Ranges, or whatever else sums are kept by, in which two sets of them differ. */
function differing<Key extends number | string>(
  expected: ReadonlyMap<Key, string>,
  found: ReadonlyMap<Key, string>,
  { what, name }: { what: string; name: (key: Key) => string },
): string {
  const keys = [...new Set([...expected.keys(), ...found.keys()])]
    .filter(key => expected.get(key) !== found.get(key))
    .sort((a, b) => (a < b ? -1 : 1))
  const more = keys.length > NAMED ? ` and ${keys.length - NAMED} more` : ''
  return `${what} ${keys.slice(0, NAMED).map(name).join(', ')}${more}`
}

const rangesOf = (what: string, size: number) => ({
  what,
  name: (range: number) => `${range * size} to ${(range + 1) * size - 1}`,
})

async function findInStaging(pool: pg.Pool, clickhouse: ClickHouse, stream: number): Promise<string> {
  const { position } = await readCheckpoint(pool, MIRROR, stream)
  const { rows } = await pool.query<{ range: number; sum: string }>(
    `SELECT position / $2 AS range, count(*) || ' ' || ${STORE_SUM} AS sum
     FROM stored_events($1, 0, $3) e GROUP BY 1`,
    [stream, POSITIONS, position],
  )
  const found = await clickhouse.query<{ range: string; sum: string }>(
    'verify',
    `SELECT toString(intDiv(position, {size:UInt64})) AS range, concat(toString(count()), ' ', ${MIRROR_SUM}) AS sum
     FROM event FINAL WHERE stream = {stream:Int32} AND position <= {position:UInt64} GROUP BY range`,
    { stream, position, size: POSITIONS },
  )
  return differing(
    new Map(rows.map(({ range, sum }) => [range, sum])),
    new Map(found.map(({ range, sum }) => [Number(range), sum])),
    rangesOf('positions', POSITIONS),
  )
}

async function findInTable(
  shadow: ClickHouse,
  live: ClickHouse,
  table: string,
  { figures, where, isHead }: Compared,
): Promise<string> {
  const key = isHead ? 'vault' : `toString(intDiv(block_number, ${BLOCKS}))`
  const sums = async (clickhouse: ClickHouse) => {
    const rows = await clickhouse.query<{ key: string; sum: string }>(
      'verify',
      `SELECT ${key} AS key, concat(toString(count()), ' ', ${sumOfRows(figures)}) AS sum
       FROM ${identifier(table)} FINAL WHERE ${where} GROUP BY key`,
    )
    return rows.map(({ key, sum }) => [key, sum] as const)
  }
  const [expected, found] = [await sums(shadow), await sums(live)]
  if (isHead) return differing(new Map(expected), new Map(found), { what: 'vaults', name: vault => vault })
  const byRange = (all: typeof found) => new Map(all.map(([range, sum]) => [Number(range), sum]))
  return differing(byRange(expected), byRange(found), rangesOf('blocks', BLOCKS))
}

/** What readers leave out, position by position, against the retractions of the store. */
async function compareRetracted(
  pool: pg.Pool,
  clickhouse: ClickHouse,
  stream: number,
  name: string,
): Promise<Comparison> {
  const { position } = await readCheckpoint(pool, MIRROR, stream)
  const { rows } = await pool.query<Sum>(
    `SELECT count(*)::int AS rows, coalesce(sum(gone::numeric * e.position), 0)::text AS checksum
     FROM event_log e, generate_series((data->>'fromPosition')::bigint, (data->>'toPosition')::bigint) AS gone
     WHERE stream = $1 AND type = 'BlockRetracted' AND e.position <= $2`,
    [stream, position],
  )
  const [found] = await clickhouse.query<{ rows: string; checksum: string }>(
    'verify',
    `SELECT toString(count()) AS rows, toString(sum(toUInt256(position) * retracted_by)) AS checksum
     FROM retracted FINAL WHERE stream = {stream:Int32} AND retracted_by <= {position:UInt64}`,
    { stream, position },
  )
  return compare('retracted', name, rows[0] ?? { rows: 0, checksum: '0' }, {
    rows: Number(found?.rows ?? 0),
    checksum: found?.checksum ?? '0',
  })
}
