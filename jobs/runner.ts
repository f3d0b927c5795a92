import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { identifier } from '../db/clickhouse/migrate.ts'
import { rowsOfView } from '../db/clickhouse/views.ts'
import { UnavailableError, VaultlogError } from '../db/process/errors.ts'
import { MIRROR } from '../db/wake-ups.ts'
import { beginBatch, finishBatch, readCheckpoint, type Turn, withLock } from './checkpoints.ts'
import { FEW, type MirroredBatch } from './mirror.ts'
import { type Filled, fillWithoutPoison, type Poison, readPoison, withoutEvents } from './poison.ts'
import { changesBy, type Projection } from './projection.ts'

export interface BatchLimits {
  /** Positions per batch. */
  batch: number
}

export interface Range {
  from: number
  to: number
  block: { number: number; time: number }
  types: ReadonlySet<string>
}

/** The live rows were made by other code than this: they stay readable, but may not be added to. */
export class NeedsReplayError extends VaultlogError {
  readonly code = 'NEEDS_REPLAY'
  constructor(projection: string, stream: number, have: number, want: number) {
    super(
      `Rows of ${projection} on stream ${stream} are of version ${have}, this code makes version ${want}. ` +
        `Run \`vaultlog replay --projection ${projection}\`; the old rows are served until it has finished.`,
    )
  }
}

/** Live batches are small enough to appear soon, replays large enough to be fast. */
export const LIVE: BatchLimits = { batch: 250_000 }

/**
 * Brings one projection on one stream up to what is mirrored. Gives the position reached; undefined where another
 * worker is at it. Killed at any moment it goes on from the checkpoint: a batch begun is repeated with the same
 * bounds and the same deduplication token, so its rows are there once.
 */
export function runProjection(
  pool: pg.Pool,
  clickhouse: ClickHouseClient,
  projection: Projection,
  stream: number,
  options: {
    limits?: BatchLimits
    onBatch?: (range: Range, seconds: number) => void
    turn?: Turn
  } = {},
): Promise<number | undefined> {
  return withLock(pool, projection.name, stream, async client => {
    while (true) {
      const checkpoint = await readCheckpoint(client, projection.name, stream)
      if (checkpoint.version > 0 && checkpoint.version !== projection.version) {
        throw new NeedsReplayError(projection.name, stream, checkpoint.version, projection.version)
      }
      const target = await readCheckpoint(client, MIRROR, stream)
      if (target.position <= checkpoint.position || options.turn?.isOver()) return checkpoint.position
      const startedAt = performance.now()
      const limit = (options.limits ?? LIVE).batch
      const end = checkpoint.applying_to ?? Math.min(target.position, checkpoint.position + limit)
      const range = await planRange(clickhouse, stream, checkpoint.position, end, target, {
        isBegun: checkpoint.applying_to !== null,
      })
      await beginBatch(client, projection.name, stream, range.to, projection.version)
      await applyBatch(client, clickhouse, projection, stream, range)
      await finishBatch(client, [projection.name], stream, range.to, range.block)
      options.onBatch?.(range, (performance.now() - startedAt) / 1000)
    }
  })
}

/**
 * Where a batch ends: at a block boundary, and before a retraction that is not at its very beginning. One that was
 * begun before keeps its end, whatever was mirrored since: with other bounds its inserts would not deduplicate.
 */
export function planRange(
  clickhouse: ClickHouseClient,
  stream: number,
  from: number,
  end: number,
  target: Target,
  { isBegun = false }: { isBegun?: boolean } = {},
): Promise<Range> {
  const known = plansOf(clickhouse)
  const key = planKey(stream, from, end, target, isBegun)
  const plan = known.get(key) ?? findRange(clickhouse, stream, from, end, target, isBegun)
  known.set(key, plan)
  // What could not be found is asked for again.
  plan.catch(() => known.delete(key))
  return plan
}

interface Target {
  position: number
  block_number: number
  block_time: number
}

/**
 * Plans by database: after each block every projection asks for the same one, and of a history of forks, each of which ends a
 * range, for all of them in turn. Events do not change.
 */
const plans = new WeakMap<ClickHouseClient, LRUCache<string, Promise<Range>>>()

function plansOf(clickhouse: ClickHouseClient): LRUCache<string, Promise<Range>> {
  const known = plans.get(clickhouse) ?? new LRUCache<string, Promise<Range>>({ max: 10_000 })
  plans.set(clickhouse, known)
  return known
}

const planKey = (stream: number, from: number, end: number, target: Target, isBegun: boolean): string =>
  [stream, from, end, target.position, target.block_number, isBegun].join()

/** Keeps the plan of a range that was mirrored just now, so that no projection has to ask for it. */
export function expectRange(clickhouse: ClickHouseClient, stream: number, batch: MirroredBatch): void {
  const { from, to, block, types, isWhole } = batch
  if (!types || !isWhole) return
  const target = { position: to, block_number: block.number, block_time: block.time }
  plansOf(clickhouse).set(
    planKey(stream, from, to, target, false),
    Promise.resolve({ from, to, block, types }),
  )
}

async function findRange(
  clickhouse: ClickHouseClient,
  stream: number,
  from: number,
  end: number,
  target: Target,
  isBegun: boolean,
): Promise<Range> {
  const answer = await clickhouse.query({
    // ORDER BY … LIMIT 1 stops at the first hit; min() would read the rest of the stream for every batch.
    query: `
      WITH
        (SELECT min(position) FROM event WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {end:UInt64} AND type != 'BlockRetracted') AS first_other,
        (SELECT min(position) FROM event WHERE stream = {stream:Int32} AND position > greatest({from:UInt64}, first_other) AND position <= {end:UInt64} AND type = 'BlockRetracted') AS next_retraction,
        if({begun:Bool}, {end:UInt64}, if(next_retraction > 0 AND first_other > 0, next_retraction - 1, {end:UInt64})) AS cut,
        (SELECT block_hash FROM event WHERE stream = {stream:Int32} AND position = cut LIMIT 1) AS cut_hash,
        ifNull((
          SELECT position FROM event
          WHERE stream = {stream:Int32} AND position > cut AND position <= {last:UInt64} AND (block_hash != cut_hash OR type = 'BlockRetracted')
          ORDER BY stream, position LIMIT 1
          SETTINGS max_threads = 1, optimize_read_in_order = 1), 0) AS after_block
      SELECT
        toUInt64(multiIf({begun:Bool}, cut, after_block > 0, after_block - 1, {last:UInt64})) AS to,
        argMax(block_number, position) AS number,
        toUnixTimestamp(argMax(timestamp, position)) AS time,
        groupUniqArray(type) AS types,
        count() AS rows
      FROM event WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= to`,
    query_params: { stream, from, end, last: target.position, begun: isBegun },
    format: 'JSONEachRow',
    clickhouse_settings: { log_comment: 'plan range', output_format_json_quote_64bit_integers: 0 },
  })
  const [row] = await answer.json<{
    to: number
    number: number
    time: number
    types: string[]
    rows: number
  }>()
  const to = row?.to ?? end
  // Positions have no gaps: fewer are still to come from another replica, more are a copy that will be merged.
  if (row?.rows !== to - from)
    throw new UnavailableError(
      `ClickHouse has ${row?.rows ?? 0} events of positions ${from + 1} to ${to} of stream ${stream}, not ${to - from}.`,
    )
  const block =
    to >= target.position
      ? { number: target.block_number, time: target.block_time }
      : { number: row?.number ?? -1, time: row?.time ?? 0 }
  return { from, to, block, types: new Set(row?.types ?? []) }
}

/** Makes a range's rows in the client's database, of all events but those that cannot be digested. */
export async function applyBatch(
  db: pg.Pool | pg.PoolClient,
  clickhouse: ClickHouseClient,
  projection: Projection,
  stream: number,
  range: Range,
): Promise<void> {
  let poison: Poison | undefined
  await applyRange(clickhouse, projection, stream, range, async filled => {
    poison ??= await readPoison(db, projection, stream)
    await fillWithoutPoison(db, clickhouse, filled, range, poison, without =>
      fillPart(clickhouse, filled, range, without),
    )
  })
}

/** Makes a range's rows in the client's database, of all events unless `fill` knows better. Repeated it changes nothing. */
export async function applyRange(
  clickhouse: ClickHouseClient,
  projection: Projection,
  stream: number,
  range: { from: number; to: number; types: ReadonlySet<string> },
  fill = (filled: Filled) => fillPart(clickhouse, filled, range, []),
): Promise<void> {
  const changed = changesBy(projection, range.types)
  if (changed.length === 0 || !(await isDue(clickhouse, projection, stream, range))) return
  // One after the other: a companion is made of the rows before it, and a head is moved after the rows that read it.
  for (const part of changed) await fill({ projection, part, stream })
}

async function fillPart(
  clickhouse: ClickHouseClient,
  filled: Filled,
  { from, to }: { from: number; to: number },
  without: readonly number[],
): Promise<void> {
  const { projection, stream } = filled
  const { name, into = name } = filled.part
  const left = without.filter(position => position > from && position <= to)
  const rows = await rowsOfView(clickhouse, `${name}_rows`, { stream, from, to })
  await clickhouse.command({
    query: `INSERT INTO ${identifier(into)} SELECT * FROM ${rows}`,
    clickhouse_settings: {
      ...settingsFor({ from, to }),
      ...withoutEvents(filled, without),
      insert_deduplication_token: [name, projection.version, stream, from, to, ...left].join(':'),
      min_insert_block_size_rows: '4194304',
      min_insert_block_size_bytes: '0',
      log_comment: `project ${name}`,
    },
  })
}

/** A block's events, but not all samples of an hour. */
const HANDFUL = 1_000

/** For a handful of events, planning is what takes time: threads are set up and expressions compiled in vain. */
const settingsFor = ({ from, to }: { from: number; to: number }): ClickHouseSettings =>
  to - from > HANDFUL
    ? {}
    : {
        max_threads: 1,
        compile_expressions: 0,
        compile_aggregate_expressions: 0,
        compile_sort_description: 0,
      }

/** Whether a range may give rows; of a long one nobody asks. */
async function isDue(
  clickhouse: ClickHouseClient,
  { name, isSeldom }: Projection,
  stream: number,
  { from, to }: { from: number; to: number },
): Promise<boolean> {
  if (!isSeldom || to - from > FEW) return true
  const answer = await clickhouse.query({
    query: `SELECT 1 FROM ${await rowsOfView(clickhouse, `${name}_due`, { stream, from, to })} LIMIT 1`,
    format: 'JSONEachRow',
    clickhouse_settings: { ...settingsFor({ from, to }), log_comment: `due ${name}` },
  })
  return (await answer.json()).length > 0
}
