import type pg from 'pg'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import { identifier } from '../db/clickhouse/migrate.ts'
import { MIRROR } from '../db/wake-ups.ts'
import { readCheckpoint } from './checkpoints.ts'
import { type Projection, tablesOf } from './projection.ts'
import { buildShadow, catchUp, concerns, dropShadow, holdingLocks, type ReplayOptions } from './replay.ts'

export interface Comparison {
  what: string
  stream: string
  expected: Sum
  found: Sum
  equal: boolean
}

interface Sum {
  rows: number
  checksum: string
}

/**
 * Proves that the read models are values of the streams: every stream's events are the same in Postgres and in
 * ClickHouse, and every live table has the rows that a replay from nothing makes. Reads only; the replay goes to a
 * database of its own, which is dropped afterwards.
 */
export async function verify(options: ReplayOptions): Promise<Comparison[]> {
  const shadow = options.clickhouse.in(`${options.clickhouse.database}_verify`)
  const comparisons: Comparison[] = []
  for (const stream of options.streams) {
    comparisons.push(await compareStaging(options.pool, options.clickhouse, stream.id, stream.name))
    comparisons.push(await compareRetracted(options.pool, options.clickhouse, stream.id, stream.name))
  }
  await dropShadow(options, shadow)
  await buildShadow(options, shadow)
  for (const projection of options.projections) {
    const streams = options.streams.filter(stream => concerns(projection, stream))
    await holdingLocks(options, projection, streams, async live => {
      for (const stream of streams) {
        await catchUp(options, shadow, projection, stream, live.get(stream.id))
        for (const table of tablesOf(projection)) {
          const expected = await sumOf(shadow, projection, stream.id, table)
          const found = await sumOf(options.clickhouse, projection, stream.id, table)
          comparisons.push(compare(table, stream.name, expected, found))
        }
      }
    })
  }
  await dropShadow(options, shadow)
  await shadow.close()
  return comparisons
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

/** Rows and an order-independent checksum over every column of a read model, duplicates of a repeated insert merged. */
export async function sumOf(
  clickhouse: ClickHouse,
  projection: Projection,
  stream: number,
  table = projection.name,
): Promise<Sum> {
  const [row] = await clickhouse.query<{ rows: string; checksum: string }>(
    'verify',
    `SELECT toString(count()) AS rows, toString(sum(cityHash64(toString(tuple(*))))) AS checksum
     FROM ${identifier(table)} FINAL ${projection.streams === 'chains' ? 'WHERE chain_id = {stream:UInt32}' : ''}`,
    { stream },
  )
  return { rows: Number(row?.rows ?? 0), checksum: row?.checksum ?? '0' }
}

/** The same sum over the same text of every event up to the mirror's checkpoint, reckoned by either database. */
async function compareStaging(
  pool: pg.Pool,
  clickhouse: ClickHouse,
  stream: number,
  name: string,
): Promise<Comparison> {
  const { rows } = await pool.query<Sum & { position: number }>(
    `WITH upto AS (SELECT coalesce(max(position), 0) AS position FROM checkpoint WHERE projection = $2 AND stream = $1)
     SELECT count(*)::int AS rows, (SELECT position FROM upto) AS position,
       coalesce(sum(('x' || left(md5(concat_ws('|', e.position, type, block_number, encode(block_hash, 'hex'), block_time,
         coalesce(encode(tx_hash, 'hex'), ''), coalesce(log_index, 4294967295), coalesce(encode(contract, 'hex'), ''), data)), 15))::bit(60)::bigint), 0)::text AS checksum
     FROM event_log e WHERE stream = $1 AND e.position <= (SELECT position FROM upto)`,
    [stream, MIRROR],
  )
  const expected = rows[0] ?? { rows: 0, checksum: '0', position: 0 }
  const [found] = await clickhouse.query<{ rows: string; checksum: string }>(
    'verify',
    `SELECT toString(count()) AS rows, toString(sum(toUInt128(reinterpretAsUInt64(reverse(unhex(concat('0', left(lower(hex(MD5(concatWithSeparator('|',
       toString(position), type, toString(block_number), substring(block_hash, 3), toString(toUnixTimestamp(timestamp)),
       substring(tx_hash, 3), toString(log_index), substring(contract, 3), data)))), 15)))))))) AS checksum
     FROM event FINAL WHERE stream = {stream:Int32} AND position <= {position:UInt64}`,
    { stream, position: expected.position },
  )
  const expectedSum = { rows: expected.rows, checksum: expected.checksum }
  return compare(MIRROR, name, expectedSum, {
    rows: Number(found?.rows ?? 0),
    checksum: found?.checksum ?? '0',
  })
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
