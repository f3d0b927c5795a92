import { isDeepStrictEqual } from 'node:util'
import type {
  FinalTxInfo,
  HotDatabase,
  HotDatabaseState,
  HotTxInfo,
} from '@subsquid/util-internal-processor-tools'
import type pg from 'pg'
import { inTransaction } from '../postgres.ts'
import { ConfigError } from '../process/errors.ts'
import type { StreamKind } from '../streams.ts'
import {
  CursorMovedError,
  ForkedWhileOfflineError,
  LockLostError,
  SecondWriterError,
  StoppedError,
} from './chain-errors.ts'
import type { BlockEvents } from './event-store.ts'
import { appendEvents, lockStreamHead, registerStream, UnknownStreamError } from './event-store.ts'
import { type EventWriter, openWriter } from './event-writer.ts'
import { HOT_BLOCKS, type HotBlock, rememberHotBlocks, retraction } from './hot-blocks.ts'
import { type LogsOfDay, retractLogBudgets, storeLogBudgets } from './log-budgets.ts'
import { type OlderSource, storeOlderSources } from './older-logs.ts'
import { retractTeaching, storeTeaching, type Teaches } from './teaching.ts'
import { retractWaiting, storeWaiting, type WaitingContract } from './waiting-contracts.ts'
import { lowerSourceCursors, type SourceCursor, storeSourceCursors } from './watched-sources.ts'
import { takeWriterLock } from './writer-lock.ts'

export interface Committed {
  /** Stream position after the transaction. */
  head: number
  appended: number
  retracted: number
  headBlock: number
  /** Unix seconds of the newest block of the batch; 0 where the source gave none. */
  headTime: number
  /** Of handling the blocks and of the transaction that stores what came of them. */
  seconds: number
  /** Blocks were taken back, and nothing of the batch itself is stored: it is to be handled again. */
  isDiscarded?: boolean | undefined
}

interface Cursor {
  height: number
  hash: string
}

/** What the handling of a batch stands on. */
interface StreamState {
  /** Position of the newest event. */
  position: number
  /** The finalized block up to which everything is stored. */
  final: Cursor
  hot: HotBlock[]
}

/** What a batch is to change. */
interface Outcome {
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

export interface ChainDatabaseOptions {
  pool: pg.Pool
  stream: number
  name: string
  kind?: StreamKind
  /** Which events are to be known at every start. */
  teaches?: Teaches
  /** Hash of a canonical block, asked when a hot block became final without the source saying its hash. */
  getBlockHash?: (height: number) => Promise<string | undefined>
  onCommit?: (committed: Committed) => void | Promise<void>
}

/**
 * The event store as evm-processor's database: cursor and events move in one transaction, and a fork appends
 * retractions together with the new branch instead of deleting rows (invariant 1), whatever its depth above finality.
 */
export class ChainDatabase implements HotDatabase<EventWriter> {
  readonly supportsHotBlocks = true
  private readonly options: ChainDatabaseOptions
  private lock: pg.PoolClient | undefined
  private readonly underWay = new Set<Promise<unknown>>()
  private isClosed = false
  /** A batch is being handled or stored. */
  private isHandling = false
  private appending: Promise<unknown> | undefined

  constructor(options: ChainDatabaseOptions) {
    this.options = options
  }

  async connect(): Promise<HotDatabaseState & { position: number }> {
    this.assertOpen()
    const { pool, stream, name, kind = 'evm' } = this.options
    await registerStream(pool, stream, name, kind)
    if (!this.lock) {
      const client = await pool.connect()
      if (!(await takeWriterLock(client, stream))) {
        client.release()
        throw new SecondWriterError(name)
      }
      if (this.isClosed) await giveBack(client)
      this.assertOpen()
      // A lost lock connection means that another writer could start.
      client.once('error', this.onLost)
      this.lock = client
    }
    const { position, final, hot } = await readState(pool, stream)
    if (final.height >= 0 && final.hash === '0x') await this.adoptFinalHash(final)
    const top = new Map<number, string>()
    for (const { height, hash } of hot) if (!top.has(height)) top.set(height, hash)
    return { ...final, position, top: [...top].map(([height, hash]) => ({ height, hash })) }
  }

  private assertOpen(): void {
    if (this.isClosed) throw new StoppedError(this.options.name)
  }

  private assertHasLock(): void {
    if (!this.lock) throw new LockLostError(this.options.name)
  }

  private assertMayWrite(): void {
    this.assertOpen()
    this.assertHasLock()
  }

  /** For good: evm-processor may connect once more while a stop is under way. */
  async close(): Promise<void> {
    this.isClosed = true
    await Promise.allSettled(this.underWay)
    const client = this.lock
    this.lock = undefined
    if (!client) return
    client.off('error', this.onLost)
    await giveBack(client)
  }

  private readonly onLost = (error: Error): void => {
    const client = this.lock
    this.lock = undefined
    client?.release(error)
  }

  /** After a rewind the cursor's block is known by its height alone; the chain says which one it is now. */
  private async adoptFinalHash(final: Cursor): Promise<void> {
    const hash = await this.options.getBlockHash?.(final.height)
    if (!hash) return
    await this.options.pool.query(
      `UPDATE stream SET final_hash = $2 WHERE id = $1 AND final_height = $3 AND final_hash = '0x'`,
      [this.options.stream, hash, final.height],
    )
    final.hash = hash
  }

  /** Finalized blocks: everything up to nextHead is canonical for good. */
  async transact(info: FinalTxInfo, handle: (store: EventWriter) => Promise<void>): Promise<void> {
    let orphaned = 0
    await this.commit(info.prevHead, async (hot, cursor) => {
      const stored = new Map(hot.map(block => [block.height, block.hash]))
      const opened = openWriter(stored, Number.MAX_SAFE_INTEGER, info.prevHead)
      const { canonical } = opened
      await handle(opened.writer)
      for (const { block } of opened.blocks) canonical.set(block.number, block.hash)
      const orphans = await this.findOrphans(hot, canonical, info.nextHead)
      orphaned = orphans.length
      if (orphaned > 0) {
        const above = Math.min(...orphans.map(block => block.height))
        return {
          ...writtenBy(openWriter(stored, 0, cursor)),
          orphans: hot.filter(block => block.height >= above),
          final: cursor,
          hotBlocks: [],
          isDiscarded: true,
        }
      }
      return { ...writtenBy(opened), orphans: [], final: info.nextHead, hotBlocks: [] }
    })
    if (orphaned > 0) throw new ForkedWhileOfflineError(this.options.name, orphaned)
  }

  transactHot(): Promise<void> {
    throw new ConfigError(
      'transactHot is superseded by transactHot2 and never called by this version of evm-processor.',
    )
  }

  /** Blocks above finality; a baseHead below the stored head is a fork, and what stands above it is retracted. */
  transactHot2(
    info: HotTxInfo,
    handle: (store: EventWriter, sliceStart: number, sliceEnd: number) => Promise<void>,
  ): Promise<void> {
    return this.commit(undefined, async (hot, cursor) => {
      const known = [{ height: cursor.height, hash: cursor.hash }, ...hot]
      if (!known.some(block => block.hash === info.baseHead.hash)) {
        throw new CursorMovedError(
          this.options.name,
          `block ${info.baseHead.height}`,
          `block ${known.at(-1)?.height}`,
        )
      }
      // A source that has just started brings its head again, which is no fork.
      const stored = new Set(hot.map(block => block.hash))
      const change = info.newBlocks.findIndex(block => !stored.has(block.hash))
      const first = change < 0 ? info.newBlocks.length : change
      const newBlocks = info.newBlocks.slice(first)
      const base = info.newBlocks[first - 1] ?? info.baseHead
      const opened = openWriter(new Map(), base.height, base)
      if (newBlocks.length > 0) await handle(opened.writer, first, info.newBlocks.length)
      return {
        ...writtenBy(opened),
        orphans: hot.filter(block => block.height > base.height),
        final: info.finalizedHead,
        hotBlocks: newBlocks.filter(block => block.height > info.finalizedHead.height),
      }
    })
  }

  /**
   * Handles blocks, and then appends in a transaction of its own what came of them: no transaction is open while a node is
   * asked. It stores nothing where the stream is not what the handling stood on any more.
   */
  private async commit(
    expected: Cursor | undefined,
    work: (hot: HotBlock[], cursor: Cursor) => Promise<Outcome>,
  ): Promise<void> {
    const { onCommit } = this.options
    this.assertMayWrite()
    const startedAt = performance.now()
    this.isHandling = true
    const committed = await this.tracked(this.handleAndAppend(expected, work)).finally(() => {
      this.isHandling = false
    })
    await onCommit?.({ ...committed, seconds: (performance.now() - startedAt) / 1000 })
  }

  private async handleAndAppend(
    expected: Cursor | undefined,
    work: (hot: HotBlock[], cursor: Cursor) => Promise<Outcome>,
  ): Promise<Omit<Committed, 'seconds'>> {
    const { pool, stream, name } = this.options
    // What is being appended of the past moves the stream, too.
    await this.appending
    const before = await readState(pool, stream)
    if (expected && !isSame(before.final, expected))
      throw new CursorMovedError(name, `block ${expected.height}`, `block ${before.final.height}`)
    const outcome = await work(before.hot, before.final)
    this.assertHasLock()
    return inTransaction(pool, async tx => {
      await lockStreamHead(tx, stream)
      const state = await readState(tx, stream)
      if (!isDeepStrictEqual(state, before))
        throw new CursorMovedError(name, describeState(before), describeState(state))
      return this.append(tx, before, outcome)
    })
  }

  private async append(
    tx: pg.PoolClient,
    { position, hot }: StreamState,
    outcome: Outcome,
  ): Promise<Omit<Committed, 'seconds'>> {
    const { orphans, blocks, final, hotBlocks, headTime, sources, olderSources, waiting, logBudgets } =
      outcome
    const { stream } = this.options
    if (await this.mayTakeWriterRole(tx)) await tx.query('SET LOCAL ROLE vaultlog_writer')
    const retractions = orphans
      .filter(orphan => orphan.to_position >= orphan.from_position)
      .sort((a, b) => b.height - a.height)
      .map(retraction)
    const base = await appendEvents(tx, stream, position, retractions)
    const next = await appendEvents(tx, stream, base, blocks)
    await storeTeaching(tx, stream, base, blocks, this.options.teaches)
    if (orphans.length > 0) {
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
    await storeSourceCursors(tx, stream, sources)
    await storeOlderSources(tx, stream, olderSources)
    await storeWaiting(tx, stream, waiting, final.height)
    await storeLogBudgets(tx, stream, logBudgets.changed, logBudgets.done)
    return {
      head: next,
      appended: next - base,
      retracted: retractions.length,
      headBlock: head.height,
      headTime,
      isDiscarded: outcome.isDiscarded,
    }
  }

  /**
   * Stores events of final blocks below the cursor between two batches, with how far the history of their sources is then;
   * `from` is how far it was. Undefined, and nothing is stored, while a batch is: whoever waited for it could keep it waiting.
   */
  async appendPast(
    blocks: readonly BlockEvents[],
    sources: readonly SourceCursor[],
    from: number,
    older: readonly OlderSource[] = [],
  ): Promise<Committed | undefined> {
    const { pool, stream } = this.options
    this.assertMayWrite()
    if (this.isHandling) return undefined
    const startedAt = performance.now()
    const commit = inTransaction(pool, async tx => {
      const { rows } = await tx.query<{ head: number; headBlock: number; headTime: number }>(
        `SELECT head, head_height AS "headBlock", head_time AS "headTime" FROM stream WHERE id = $1 FOR UPDATE`,
        [stream],
      )
      const [state] = rows
      if (!state) throw new UnknownStreamError(stream)
      if (await this.mayTakeWriterRole(tx)) await tx.query('SET LOCAL ROLE vaultlog_writer')
      const head = await appendEvents(tx, stream, state.head, blocks)
      await storeTeaching(tx, stream, state.head, blocks, this.options.teaches)
      await tx.query('UPDATE stream SET head = $2, updated_at = clock_timestamp() WHERE id = $1', [
        stream,
        head,
      ])
      await storeSourceCursors(tx, stream, sources, from)
      await storeOlderSources(tx, stream, older)
      return { ...state, head, appended: head - state.head, retracted: 0 }
    })
    this.appending = commit.catch(() => {})
    const committed = await this.tracked(commit)
    return { ...committed, seconds: (performance.now() - startedAt) / 1000 }
  }

  private tracked<T>(commit: Promise<T>): Promise<T> {
    const done = commit.finally(() => this.underWay.delete(done))
    this.underWay.add(done)
    return done
  }

  private writerRole: boolean | undefined

  private async mayTakeWriterRole(tx: pg.PoolClient): Promise<boolean> {
    if (this.writerRole === undefined) {
      const { rows } = await tx.query<{ may: boolean }>(
        `SELECT count(*) > 0 AND bool_and(pg_has_role(current_user, oid, 'MEMBER')) AS may FROM pg_roles WHERE rolname = 'vaultlog_writer'`,
      )
      this.writerRole = rows[0]?.may ?? false
    }
    return this.writerRole
  }

  /** Which stored hot blocks turn out orphaned when the chain is final up to nextHead. */
  private async findOrphans(
    hot: HotBlock[],
    canonical: Map<number, string>,
    nextHead: Cursor,
  ): Promise<HotBlock[]> {
    canonical.set(nextHead.height, nextHead.hash)
    const orphans: HotBlock[] = []
    for (const block of hot) {
      if (block.height > nextHead.height || block.to_position < block.from_position) continue
      const hash = canonical.get(block.height) ?? (await this.options.getBlockHash?.(block.height))
      if (hash !== block.hash) orphans.push(block)
    }
    return orphans
  }
}

function writtenBy({
  blocks,
  headTime,
  sources,
  olderSources,
  waiting,
  logBudgets,
}: ReturnType<typeof openWriter>): Omit<Outcome, 'orphans' | 'final' | 'hotBlocks'> {
  return { blocks, headTime: headTime(), sources, olderSources: olderSources(), waiting, logBudgets }
}

/** At one moment, by one statement. */
async function readState(db: pg.Pool | pg.PoolClient, stream: number): Promise<StreamState> {
  const { rows } = await db.query<{ position: number; height: number; hash: string; hot: HotBlock[] }>(
    `SELECT head AS position, final_height AS height, final_hash AS hash, ${HOT_BLOCKS} AS hot FROM stream WHERE id = $1`,
    [stream],
  )
  const [row] = rows
  if (!row) throw new UnknownStreamError(stream)
  return { position: row.position, final: { height: row.height, hash: row.hash }, hot: row.hot }
}

const isSame = (a: Cursor, b: Cursor) => a.height === b.height && a.hash === b.hash

const describeState = ({ position, final, hot }: StreamState) =>
  `block ${hot.at(-1)?.height ?? final.height}, position ${position}`

/** The lock before the connection, whose end the server notices a moment later. */
async function giveBack(client: pg.PoolClient): Promise<void> {
  const broken = await client.query('SELECT pg_advisory_unlock_all()').catch((error: Error) => error)
  client.release(broken instanceof Error ? broken : undefined)
}
