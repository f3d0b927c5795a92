import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import type pg from 'pg'
import { tablesOfSchema } from './clickhouse/migrate.ts'
import { VaultlogError } from './process/errors.ts'
import { log } from './process/log.ts'
import { MIRROR } from './wake-ups.ts'

/** Why the read models in ClickHouse are not those that the checkpoints in Postgres tell of. */
export interface ReadModelFault {
  /** rebuilding: they are being made anew, and workers have to go on; lost: nothing may be added to them. */
  kind: 'lost' | 'rebuilding'
  reason: string
}

/** Read models that are not whole: nothing is made of them or added to them. */
export class ReadModelsLostError extends VaultlogError {
  readonly code = 'READ_MODELS_LOST'
  constructor({ kind, reason }: ReadModelFault) {
    super(
      kind === 'lost'
        ? `${reason} Run \`vaultlog rebuild\`, which makes all read models anew from the event store.`
        : `${reason} Wait until that is done, or run \`vaultlog rebuild --resume\` where it was interrupted.`,
    )
  }
}

interface Stores {
  pool: pg.Pool
  clickhouse: ClickHouseClient
}

interface Target {
  projection: string
  stream: number
  to: number
}

/**
 * Compares the read models with what Postgres knows of them: whose they are, which tables there are and have rows, and
 * how far the copy of the events goes. Writes down what it finds, for those who ask Postgres alone.
 */
export async function checkReadModels({ pool, clickhouse }: Stores): Promise<ReadModelFault | undefined> {
  const known = await readKnown(pool)
  const found = await findFault({ pool, clickhouse }, known)
  if (found.fault?.reason !== known.fault || found.filled.some(name => !known.filled.includes(name)))
    await pool.query(
      `UPDATE read_models SET fault = $1, checked_at = clock_timestamp(),
         filled = ARRAY(SELECT DISTINCT unnest(filled || $2::text[]) ORDER BY 1)`,
      [found.fault?.reason ?? null, found.fault?.kind === 'lost' ? [] : found.filled],
    )
  return found.fault
}

interface Known {
  store: string
  filled: string[]
  /** Tables that may have no rows: all that they had were taken back once. */
  mayBeEmpty: string[]
  rebuild: Target[] | null
  fault: string | null
  /** How far the copy of each stream goes by the checkpoints, where it has begun. */
  mirrored: Map<number, number>
  hasBegun: boolean
}

async function readKnown(pool: pg.Pool): Promise<Known> {
  const { rows } = await pool.query<Omit<Known, 'mirrored'> & { mirrored: Record<string, number> | null }>(
    `SELECT store, filled, may_be_empty AS "mayBeEmpty", rebuild, fault,
       EXISTS (SELECT FROM checkpoint WHERE position > 0) AS "hasBegun",
       (SELECT json_object_agg(stream, position) FROM checkpoint WHERE projection = $1 AND position > 0) AS mirrored
     FROM read_models`,
    [MIRROR],
  )
  const [row] = rows
  if (!row) throw new NoReadModelsRowError()
  const mirrored = Object.entries(row.mirrored ?? {}).map(([id, to]) => [Number(id), to] as const)
  return { ...row, mirrored: new Map(mirrored) }
}

class NoReadModelsRowError extends VaultlogError {
  readonly code = 'NO_READ_MODELS_ROW'
  constructor() {
    super(
      'The table read_models in Postgres is empty: it had one row from the first migration on. Restore it with INSERT INTO read_models DEFAULT VALUES, then run `vaultlog rebuild`.',
    )
  }
}

async function findFault(
  { pool, clickhouse }: Stores,
  known: Known,
): Promise<{ fault: ReadModelFault | undefined; filled: string[] }> {
  const schema = await tablesOfSchema()
  const tables = await readTables(clickhouse)
  const filled = schema.filter(name => (tables.get(name) ?? 0) > 0)
  const lost = (reason: string) => ({ fault: { kind: 'lost' as const, reason }, filled })
  const owners = tables.has('identity') ? await readIdentity(clickhouse) : []
  const foreign = owners.find(store => store !== known.store)
  if (foreign) return lost('The ClickHouse database holds the read models of another event store.')
  if (!known.hasBegun) {
    // Nothing was made yet: whatever stands there is new, or has been emptied on purpose.
    if (owners.length === 0 && tables.has('identity')) await sign(clickhouse, known.store)
    return { fault: await rebuilding(pool, known), filled: [] }
  }
  if (owners.length === 0)
    return lost(
      'The ClickHouse database is not the one that the read models were made in: it is new or empty.',
    )
  const missing = schema.filter(name => !tables.has(name))
  if (missing.length > 0)
    return lost(`Tables and views of the read models are missing in ClickHouse: ${missing.join(', ')}.`)
  const emptied = known.filled.filter(name => tables.get(name) === 0 && !known.mayBeEmpty.includes(name))
  if (emptied.length > 0)
    return lost(`Tables of the read models have lost their rows: ${emptied.join(', ')}.`)

  const copied = await readCopied(clickhouse, [...known.mirrored.keys()])
  for (const [stream, position] of known.mirrored) {
    const there = copied.get(stream) ?? 0
    if (there < position)
      return lost(
        `The read models are older than the event store: of stream ${stream} they have ${there} of ${position} events.`,
      )
  }
  // Asked for after the copy, which cannot have more than there were by then.
  const { rows: heads } = await pool.query<{ id: number; head: number }>('SELECT id, head FROM stream')
  for (const { id, head } of heads) {
    const there = copied.get(id) ?? 0
    if (there > head)
      return lost(
        `The event store is older than the read models: stream ${id} ends at ${head}, and they have ${there} events of it.`,
      )
  }
  return { fault: await rebuilding(pool, known), filled }
}

async function rebuilding(pool: pg.Pool, { rebuild }: Known): Promise<ReadModelFault | undefined> {
  if (!rebuild) return undefined
  const { done, goal } = await readRebuild(pool, rebuild)
  if (done < goal) {
    const share = Math.floor((done * 100) / Math.max(1, goal))
    return { kind: 'rebuilding', reason: `The read models are being made anew: ${share} % done.` }
  }
  await pool.query('UPDATE read_models SET rebuild = NULL WHERE rebuild = $1', [JSON.stringify(rebuild)])
  return undefined
}

/** How much of a rebuild is done, in positions over all projections. */
export async function readRebuild(
  pool: pg.Pool,
  targets: readonly Target[],
): Promise<{ done: number; goal: number }> {
  const { rows } = await pool.query<{ done: number; goal: number }>(
    `SELECT coalesce(sum(least(t."to", coalesce(c.position, 0))), 0)::bigint AS done, coalesce(sum(t."to"), 0)::bigint AS goal
     FROM jsonb_to_recordset($1) AS t(projection text, stream int, "to" bigint)
     LEFT JOIN checkpoint c USING (projection, stream)`,
    [JSON.stringify(targets)],
  )
  return rows[0] ?? { done: 0, goal: 0 }
}

/** What a rebuild has to reach, where one is under way. */
export async function readTargets(pool: pg.Pool): Promise<Target[] | undefined> {
  const { rows } = await pool.query<{ rebuild: Target[] | null }>('SELECT rebuild FROM read_models')
  return rows[0]?.rebuild ?? undefined
}

/** Rows by table; undefined for views, and where the engine does not know. */
async function readTables(clickhouse: ClickHouseClient): Promise<Map<string, number | undefined>> {
  const rows = await look<{ name: string; rows: string | null }>(
    clickhouse,
    "SELECT name, toString(total_rows) AS rows FROM system.tables WHERE database IN (currentDatabase(), concat(currentDatabase(), '_internal'))",
  ).catch(error => {
    if (isGone(error)) return []
    throw error
  })
  return new Map(rows.map(({ name, rows: count }) => [name, count === null ? undefined : Number(count)]))
}

async function readIdentity(clickhouse: ClickHouseClient): Promise<string[]> {
  return (await look<{ store: string }>(clickhouse, 'SELECT DISTINCT store FROM identity')).map(
    ({ store }) => store,
  )
}

async function look<Row>(clickhouse: ClickHouseClient, query: string): Promise<Row[]> {
  const answer = await clickhouse.query({
    query,
    format: 'JSONEachRow',
    clickhouse_settings: { log_comment: 'check read models', optimize_read_in_order: 1 },
  })
  return answer.json<Row>()
}

/** Says in ClickHouse whose the read models are. */
export async function sign(clickhouse: ClickHouseClient, store: string): Promise<void> {
  await clickhouse.insert({ table: 'identity', values: [{ store }], format: 'JSONEachRow' })
}

/** The last position of each stream in `event`. */
async function readCopied(
  clickhouse: ClickHouseClient,
  streams: readonly number[],
): Promise<Map<number, number>> {
  if (streams.length === 0) return new Map()
  // From the end of the order key, one stream after the other: max() would read the whole column.
  const last = (stream: number) =>
    `(SELECT stream, position FROM event WHERE stream = ${Number(stream)} ORDER BY stream DESC, position DESC LIMIT 1)`
  const rows = await look<{ stream: number; position: string }>(
    clickhouse,
    streams.map(last).join(' UNION ALL '),
  )
  return new Map(rows.map(({ stream, position }) => [stream, Number(position)]))
}

/** @throws ReadModelsLostError where they are not those that the checkpoints tell of */
export async function assertReadModels(stores: Stores): Promise<void> {
  const fault = await checkReadModels(stores)
  if (fault) throw new ReadModelsLostError(fault)
}

/** What Postgres was told last of the read models, without asking ClickHouse. */
export async function readFault(pool: pg.Pool): Promise<string | undefined> {
  const { rows } = await pool.query<{ fault: string | null }>('SELECT fault FROM read_models')
  return rows[0]?.fault ?? undefined
}

export interface ReadModelGuard {
  /** As of the last look. */
  readonly fault: ReadModelFault | undefined
  stop(): Promise<void>
}

/**
 * Looks at the read models now and every few seconds. A replica of a cluster may be behind for a moment, so "older" is
 * believed when it was seen twice.
 */
export async function guardReadModels(
  stores: Stores,
  { everyMs = 5_000, patienceMs = 2_000 }: { everyMs?: number; patienceMs?: number } = {},
): Promise<ReadModelGuard> {
  let fault: ReadModelFault | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms).unref())
  const look = async () => {
    let now = await checkReadModels(stores)
    if (now?.kind === 'lost' && fault?.kind !== 'lost') {
      await pause(patienceMs)
      now = await checkReadModels(stores)
    }
    if (now && now.kind !== fault?.kind)
      log.error({ code: 'READ_MODELS_LOST' }, new ReadModelsLostError(now).message)
    else if (!now && fault) log.info('the read models are whole again')
    fault = now
  }
  const again = () => {
    if (isStopped) return
    timer = setTimeout(() => {
      looking = look()
        .catch((error: Error) => log.debug({ error: error.message }, 'could not look at the read models'))
        .finally(again)
    }, everyMs)
    timer.unref()
  }
  let looking: Promise<void> = look()
  await looking
  again()
  return {
    get fault() {
      return fault
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await looking.catch(() => {})
    },
  }
}

/** A table or database that is gone, as a statement meets it. */
export const isGone = (error: unknown): boolean =>
  error instanceof ClickHouseError &&
  ['UNKNOWN_TABLE', 'UNKNOWN_DATABASE', 'TABLE_IS_DROPPED'].includes(error.type ?? '')
