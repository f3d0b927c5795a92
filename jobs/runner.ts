import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import type pg from 'pg'
import { mayLackRows } from '../db/clickhouse/client.ts'
import { identifier } from '../db/clickhouse/migrate.ts'
import { rowsOfView } from '../db/clickhouse/views.ts'
import { VaultlogError } from '../db/process/errors.ts'
import { MIRROR } from '../db/wake-ups.ts'
import {
  beginBatch,
  type Checkpoint,
  finishBatch,
  readCheckpoint,
  readCursors,
  type Turn,
  withLock,
} from './checkpoints.ts'
import { FEW } from './mirror.ts'
import {
  type EventRange,
  type Filled,
  fillWithoutPoison,
  type Poison,
  readPoison,
  withoutEvents,
} from './poison.ts'
import { changesBy, type Projection } from './projection.ts'
import { planRange, type Range } from './ranges.ts'

export interface BatchLimits {
  /** Positions per batch. */
  batch: number
  /**
   * Positions behind a fork before it may be left out: by then, who planned a batch without knowing of it has begun that, and nobody
   * reads at a past moment amid it.
   */
  settled: number
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
export const LIVE: BatchLimits = { batch: 500_000, settled: 10_000 }

/**
 * Brings one projection on one stream up to what is mirrored. Gives the position reached; undefined where another
 * worker is at it. Killed at any moment it goes on from the checkpoint: a batch begun is repeated with the same
 * bounds and the same deduplication token, so its rows are there once, and what is missing after that is added.
 */
export function runProjection(
  pool: pg.Pool,
  clickhouse: ClickHouseClient,
  projection: Projection,
  stream: number,
  options: {
    limits?: Partial<BatchLimits>
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
      const range = await begin(client, clickhouse, projection, stream, {
        checkpoint,
        target,
        limits: { ...LIVE, ...options.limits },
      })
      await applyBatch(client, clickhouse, projection, stream, range)
      await finishBatch(client, [projection.name], stream, range.to, range.block)
      options.onBatch?.(range, (performance.now() - startedAt) / 1000)
    }
  })
}

/** Plans the next batch and notes that it is about to be applied. */
async function begin(
  client: pg.PoolClient,
  clickhouse: ClickHouseClient,
  { name, version }: Projection,
  stream: number,
  { checkpoint, target, limits }: { checkpoint: Checkpoint; target: Checkpoint; limits: BatchLimits },
): Promise<Range> {
  const { position, applying_to } = checkpoint
  const end = applying_to ?? Math.min(target.position, position + limits.batch)
  const leaveOutTo = target.position - limits.settled
  // At the head of a chain no fork is old enough.
  const mayLeaveOut = applying_to === null && leaveOutTo > position
  const plan = async () =>
    planRange(clickhouse, stream, position, end, target, {
      isBegun: applying_to !== null,
      leaveOutTo,
      readAt: mayLeaveOut ? await readCursors(client, stream, name) : [],
    })
  let range = await plan()
  while (true) {
    await beginBatch(client, name, stream, range.to, version)
    if (!mayLeaveOut) return range
    // Others have planned meanwhile: of two, the one that begins later sees where the other is about to stand.
    const again = await plan()
    if (again.to === range.to) return range
    range = again
  }
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
  range: Omit<Range, 'block'>,
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
  range: EventRange,
  without: readonly number[],
): Promise<void> {
  const { stream } = filled
  const { from, to } = range
  const { name, into = name } = filled.part
  const rows = await rowsOfView(clickhouse, `${name}_rows`, { stream, from, to })
  const insert = (where: string, deduplication: ClickHouseSettings) =>
    clickhouse.command({
      query: `INSERT INTO ${identifier(into)} SELECT * FROM ${rows} ${where}`,
      clickhouse_settings: {
        ...settingsFor({ from, to }),
        ...withoutEvents(filled, range, without),
        ...deduplication,
        min_insert_block_size_rows: '4194304',
        min_insert_block_size_bytes: '0',
        log_comment: `project ${name}`,
      },
    })
  await insert('', { insert_deduplication_token: tokenOf(filled, range, without) })
  if (!range.isRepeated || !mayLackRows(clickhouse)) return
  const key = await rowKeyOf(clickhouse, into)
  await insert(
    `WHERE ${key} NOT IN (SELECT ${key} FROM ${identifier(into)} WHERE position > ${from} AND position <= ${to})`,
    { insert_deduplicate: 0 },
  )
}

/** By which the rows that a part makes of a range are inserted once. */
export function tokenOf(
  { projection, part, stream }: Filled,
  { from, to }: EventRange,
  without: readonly number[],
): string {
  const left = without.filter(position => position > from && position <= to)
  return [part.name, projection.version, stream, from, to, ...left].join(':')
}

/** What tells a table's rows apart, as an SQL expression. */
async function rowKeyOf(clickhouse: ClickHouseClient, table: string): Promise<string> {
  const answer = await clickhouse.query({
    query: `SELECT sorting_key AS key FROM system.tables WHERE database = currentDatabase() AND name = {table:String}`,
    query_params: { table },
    format: 'JSONEachRow',
    clickhouse_settings: { log_comment: 'key of rows' },
  })
  const [row] = await answer.json<{ key: string }>()
  return `sipHash128(position, ${row?.key})`
}

/** A block's events, but not all samples of an hour. */
const HANDFUL = 1_000

/**
 * For a handful of events, planning is what takes time: threads are set up and expressions compiled in vain, and that of an hour's rows took
 * half as long again for comparisons that follow from others.
 */
const settingsFor = ({ from, to }: { from: number; to: number }): ClickHouseSettings =>
  to - from > HANDFUL
    ? {}
    : {
        max_threads: 1,
        compile_expressions: 0,
        compile_aggregate_expressions: 0,
        compile_sort_description: 0,
        optimize_and_compare_chain: 0,
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
