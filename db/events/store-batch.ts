import type pg from 'pg'
import type { BlockEvents } from './event-store.ts'
import { appendEvents } from './event-store.ts'
import type { openWriter } from './event-writer.ts'
import { type HotBlock, rememberHotBlocks, retraction } from './hot-blocks.ts'
import { type LogsOfDay, retractLogBudgets, storeLogBudgets } from './log-budgets.ts'
import { type OlderSource, storeOlderSources } from './older-logs.ts'
import type { PackKeys } from './packs.ts'
import type { Cursor, StreamState } from './stream-state.ts'
import { retractTeaching, storeTeaching, type Teaches } from './teaching.ts'
import { retractWaiting, storeWaiting, type WaitingContract } from './waiting-contracts.ts'
import { lowerSourceCursors, type SourceCursor, storeSourceCursors } from './watched-sources.ts'

/** What a stream is after a transaction. */
export interface Stored {
  /** Stream position after the transaction. */
  head: number
  appended: number
  retracted: number
  headBlock: number
  /** Unix seconds of the newest block of the batch; 0 where the source gave none. */
  headTime: number
  /** Blocks were taken back, and nothing of the batch itself is stored: it is to be handled again. */
  isDiscarded?: boolean | undefined
}

/** Everything that a batch changes of its stream: what a handler wrote, and the blocks that it replaces. */
export interface Change {
  orphans: HotBlock[]
  blocks: BlockEvents[]
  final: Cursor
  hotBlocks: Cursor[]
  headTime: number
  sources: SourceCursor[]
  olderSources: OlderSource[]
  waiting: WaitingContract[]
  logBudgets: { changed: LogsOfDay[]; done: LogsOfDay[] }
  isDiscarded?: boolean
}

export function writtenBy({
  blocks,
  headTime,
  sources,
  olderSources,
  waiting,
  logBudgets,
}: ReturnType<typeof openWriter>): Omit<Change, 'orphans' | 'final' | 'hotBlocks'> {
  return { blocks, headTime: headTime(), sources, olderSources: olderSources(), waiting, logBudgets }
}

/**
 * Appends what batches change, retractions before the new branch, and moves the stream with it. The caller has locked its row. Several
 * batches are of final blocks, with nothing hot below them.
 */
export async function storeBatches(
  tx: pg.PoolClient,
  stream: number,
  { position, hot }: StreamState,
  batches: readonly Change[],
  teaches?: Teaches,
  keys?: PackKeys,
): Promise<Stored> {
  const last = batches.at(-1)
  if (!last) throw new TypeError('no batch is to be stored')
  const { final, hotBlocks, isDiscarded } = last
  const [orphans, blocks] = [
    batches.flatMap(({ orphans }) => orphans),
    batches.flatMap(({ blocks }) => blocks),
  ]
  const headTime = batches.findLast(({ headTime }) => headTime > 0)?.headTime ?? 0
  const retractions = orphans
    .filter(orphan => orphan.to_position >= orphan.from_position)
    .sort((a, b) => b.height - a.height)
    .map(retraction)
  const base = await appendEvents(tx, stream, position, retractions)
  const next = await appendEvents(tx, stream, base, blocks, keys)
  await storeTeaching(tx, stream, base, blocks, teaches)
  if (orphans.length > 0) await retract(tx, stream, orphans)
  await rememberHotBlocks(tx, stream, base, blocks, hotBlocks, final.height)
  if (hot.some(({ height }) => height <= final.height))
    await tx.query('DELETE FROM hot_block WHERE stream = $1 AND height <= $2', [stream, final.height])
  const top = hotBlocks.at(-1) ?? hot.filter(block => !orphans.includes(block)).at(-1) ?? final
  const head = top.height > final.height ? top : final
  await tx.query(
    `UPDATE stream SET head = $2, final_height = $3, final_hash = $4, head_height = $5, head_hash = $6,
            head_time = CASE WHEN $7::bigint > 0 THEN $7 ELSE head_time END, updated_at = clock_timestamp()
     WHERE id = $1`,
    [stream, next, final.height, final.hash, head.height, head.hash, headTime],
  )
  for (const { sources, olderSources, waiting, logBudgets } of batches) {
    await storeSourceCursors(tx, stream, sources)
    await storeOlderSources(tx, stream, olderSources)
    await storeWaiting(tx, stream, waiting, final.height)
    await storeLogBudgets(tx, stream, logBudgets.changed, logBudgets.done)
  }
  return {
    head: next,
    appended: next - base,
    retracted: retractions.length,
    headBlock: head.height,
    headTime,
    isDiscarded,
  }
}

/** Undoes what blocks did that are replaced. */
async function retract(tx: pg.PoolClient, stream: number, orphans: readonly HotBlock[]): Promise<void> {
  await retractTeaching(tx, stream, orphans)
  const root = Math.min(...orphans.map(({ height }) => height)) - 1
  await lowerSourceCursors(tx, stream, root)
  await retractWaiting(tx, stream, root)
  await retractLogBudgets(tx, stream, root)
  await tx.query('DELETE FROM hot_block WHERE stream = $1 AND height = ANY ($2)', [
    stream,
    orphans.map(o => o.height),
  ])
}

const writers = new WeakMap<pg.Pool, boolean>()

/** Goes on in this transaction as the role that may append and not change, where whoever signed in is of it. */
export async function takeWriterRole(pool: pg.Pool, tx: pg.PoolClient): Promise<void> {
  let may = writers.get(pool)
  if (may === undefined) {
    const { rows } = await tx.query<{ may: boolean }>(
      `SELECT count(*) > 0 AND bool_and(pg_has_role(current_user, oid, 'MEMBER')) AS may FROM pg_roles WHERE rolname = 'vaultlog_writer'`,
    )
    may = rows[0]?.may ?? false
    writers.set(pool, may)
  }
  if (may) await tx.query('SET LOCAL ROLE vaultlog_writer')
}
