import { isDeepStrictEqual } from 'node:util'
import type {
  FinalTxInfo,
  HotDatabase,
  HotDatabaseState,
  HotTxInfo,
} from '@subsquid/util-internal-processor-tools'
import type pg from 'pg'
import type { EntityManager } from 'typeorm'
import { ConfigError } from '../process/errors.ts'
import type { StreamKind } from '../streams.ts'
import {
  CursorMovedError,
  ForkedWhileOfflineError,
  LockLostError,
  SecondWriterError,
  StoppedError,
} from './chain-errors.ts'
import { appendEvents, type BlockEvents, registerStream, UnknownStreamError } from './event-store.ts'
import { type EventWriter, openWriter } from './event-writer.ts'
import { GroupCommit } from './group-commit.ts'
import type { HotBlock } from './hot-blocks.ts'
import { type OlderSource, storeOlderSources } from './older-logs.ts'
import type { PackKeys } from './packs.ts'
import { type Change, type Stored, storeBatches, takeWriterRole, writtenBy } from './store-batch.ts'
import { type Cursor, describeState, readStreamState, type StreamState, topOf } from './stream-state.ts'
import { storeTeaching, type Teaches } from './teaching.ts'
import { connectionOf, OpenTypeormDatabase, openDataSource } from './typeorm-parts.ts'
import { type SourceCursor, storeSourceCursors } from './watched-sources.ts'
import { takeWriterLock } from './writer-lock.ts'

export interface Committed extends Stored {
  /** Of handling the blocks and of the transaction that stores what came of them. */
  seconds: number
  /** Batches that were stored, others being handled meanwhile; 0: the next batch was not handled before this one was stored. */
  beside: number
}

interface Outcome extends Change {
  /** Until the events are what they are to be stored as: no transaction is open meanwhile. */
  complete(): Promise<void>
  /** Moves the library's cursor, which is at `from`, and its hot blocks along, in the transaction that stores all this. */
  move(from: Cursor): Promise<void>
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
  /** A batch was handled. True: nothing that the next one is handled by waits for this one to be stored; absent: it always does. */
  onHandled?: () => boolean
}

/** What came of a batch, and what the stream was that it stands on; its position is not known where batches before are being stored. */
interface Prepared {
  before: Omit<StreamState, 'position'> & { position?: number }
  change: Change
  move: Outcome['move']
  complete: Outcome['complete']
  isAlone: boolean
  startedAt: number
}

/** No event goes through the library's store, which would delete rows at a fork (invariant 1): they are appended beside it. */
const nothing = async () => {}
/** The highest that the library's columns hold. */
const ANY_HEIGHT = 2 ** 31 - 1

/**
 * The event store as the processors' database. Transactions, their isolation and retries, the cursor and the checks that blocks
 * are a chain are those of TypeormDatabase, whose state is in a schema per chain. Events are copied on the connection of its
 * transaction, so that they and the cursor are one commit, and a fork appends retractions together with the new branch instead
 * of deleting rows (invariant 1), whatever its depth above finality.
 */
export class ChainDatabase extends OpenTypeormDatabase implements HotDatabase<EventWriter> {
  override readonly supportsHotBlocks = true
  private readonly options: ChainDatabaseOptions
  private lock: pg.PoolClient | undefined
  private readonly underWay = new Set<Promise<unknown>>()
  private readonly packKeys: PackKeys = new Map()
  private isClosed = false
  /** A batch is being handled or stored, but for those that are stored beside the next. */
  private isHandling = false
  private readonly ahead = new GroupCommit<Prepared>(batches => this.tracked(this.store(batches)))
  /** Position of the stream, as last stored. */
  private position = 0
  private appending: Promise<unknown> | undefined
  /** What belongs in the transaction that the library is about to open, around its own statements. */
  private around: ((tx: pg.PoolClient, library: () => Promise<void>) => Promise<void>) | undefined

  constructor(options: ChainDatabaseOptions) {
    super({
      stateSchema: `processor_${String(options.stream).replace('-', 'm')}`,
      // Its SERIALIZABLE lets the processors of two chains fail each other: their rows of `stream` are on one page.
      isolationLevel: 'REPEATABLE READ',
    })
    this.options = options
  }

  /** Overridden: the library's own makes another pool, and a schema, for which a processor's role has no right. */
  async connect(): Promise<HotDatabaseState & { position: number }> {
    this.assertOpen()
    const { pool, stream, name, kind = 'evm' } = this.options
    await this.settled()
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
    const { position, final, hot } = await readStreamState(pool, stream)
    if (final.height >= 0 && final.hash === '0x') await this.adoptFinalHash(final)
    const top = topOf(hot)
    this.con ??= await openDataSource(pool)
    this.assertOpen()
    await super.submit(async em => {
      // A rewind, an import and a restored store set the cursor of the stream: the library's follows it.
      const { height, hash, top: known, nonce } = await this.getState(em)
      if (!isDeepStrictEqual([{ height, hash }, known], [final, top]))
        await this.setState(em, nonce, final, top)
    })
    return { ...final, position, top }
  }

  private async setState(em: EntityManager, nonce: number, final: Cursor, top: Cursor[]): Promise<void> {
    await this.deleteHotBlocks(em, ANY_HEIGHT)
    for (const block of top) await this.insertHotBlock(em, block)
    await this.updateStatus(em, nonce, final)
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
    await Promise.allSettled([...this.underWay, this.settled()])
    await this.disconnect()
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
  override async transact(info: FinalTxInfo, handle: (store: EventWriter) => Promise<void>): Promise<void> {
    let orphaned = 0
    await this.commit(info.prevHead, true, async (hot, cursor) => {
      const stored = new Map(hot.map(block => [block.height, block.hash]))
      const opened = openWriter(stored, Number.MAX_SAFE_INTEGER, info.prevHead)
      const { canonical } = opened
      await handle(opened.writer)
      for (const { block } of opened.blocks) canonical.set(block.number, block.hash)
      const orphans = await this.findOrphans(hot, canonical, info.nextHead)
      orphaned = orphans.length
      if (orphaned > 0) return this.discard(hot, cursor, Math.min(...orphans.map(block => block.height)))
      return {
        ...writtenBy(opened),
        complete: opened.complete,
        orphans: [],
        final: info.nextHead,
        hotBlocks: [],
        move: prevHead => super.transact({ ...info, prevHead }, nothing),
      }
    })
    if (orphaned > 0) throw new ForkedWhileOfflineError(this.options.name, orphaned)
  }

  /** Takes back what is stored from a height on, and nothing else: the blocks are to be handled again. */
  private discard(hot: HotBlock[], cursor: Cursor, from: number): Outcome {
    const orphans = hot.filter(block => block.height >= from)
    const top = topOf(hot.filter(block => block.height < from))
    return {
      ...writtenBy(openWriter(new Map(), 0, cursor)),
      complete: async () => {},
      orphans,
      final: cursor,
      hotBlocks: [],
      isDiscarded: true,
      // The library takes blocks back only together with others in their place.
      move: () => this.submit(async em => this.setState(em, (await this.getState(em)).nonce, cursor, top)),
    }
  }

  transactHot(): Promise<void> {
    throw new ConfigError(
      'transactHot is superseded by transactHot2 and never called by this version of evm-processor.',
    )
  }

  /** Blocks above finality; a baseHead below the stored head is a fork, and what stands above it is retracted. */
  override transactHot2(
    info: HotTxInfo,
    handle: (store: EventWriter, sliceStart: number, sliceEnd: number) => Promise<void>,
  ): Promise<void> {
    return this.commit(undefined, false, async (hot, cursor) => {
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
        complete: opened.complete,
        orphans: hot.filter(block => block.height > base.height),
        final: info.finalizedHead,
        hotBlocks: newBlocks.filter(block => block.height > info.finalizedHead.height),
        move: () => super.transactHot2(info, nothing),
      }
    })
  }

  /** Overridden: handling a batch comes before its transaction, and what came of it goes into this one. */
  protected override submit(work: (em: EntityManager) => Promise<void>): Promise<void> {
    const { around } = this
    return super.submit(async em => (around ? around(await connectionOf(em), () => work(em)) : work(em)))
  }

  /**
   * Handles blocks, and then appends in a transaction of its own what came of them: no transaction is open while a node is
   * asked. It stores nothing where the stream is not what the handling stood on any more. Final blocks are stored while the next ones are
   * handled, where `onHandled` allows it, and several batches in one transaction where that takes longer than handling them: what went
   * wrong with them is thrown by what comes later, which stores nothing then.
   */
  private async commit(
    expected: Cursor | undefined,
    isFinal: boolean,
    work: (hot: HotBlock[], cursor: Cursor) => Promise<Outcome>,
  ): Promise<void> {
    this.assertMayWrite()
    this.isHandling = true
    try {
      if (!isFinal) await this.settled()
      const prepared = await this.tracked(this.prepare(expected, work))
      this.assertMayWrite()
      if (isFinal && !prepared.isAlone) return void (await this.ahead.add(prepared, countOf(prepared.change)))
      await this.settled()
      await this.tracked(this.store([prepared]))
    } finally {
      this.isHandling = false
    }
  }

  /** Until nothing is being stored. @throws what went wrong with it */
  settled(): Promise<void> {
    return this.ahead.settled()
  }

  private async prepare(
    expected: Cursor | undefined,
    work: (hot: HotBlock[], cursor: Cursor) => Promise<Outcome>,
  ): Promise<Prepared> {
    const { pool, stream, name, onHandled } = this.options
    const startedAt = performance.now()
    // What is being appended of the past moves the stream, too.
    await this.appending
    const { newest } = this.ahead
    const before: Prepared['before'] = newest
      ? { final: { height: newest.change.final.height, hash: newest.change.final.hash }, hot: [] }
      : await readStreamState(pool, stream)
    if (expected && !isSame(before.final, expected)) {
      await this.settled()
      throw new CursorMovedError(name, `block ${expected.height}`, `block ${before.final.height}`)
    }
    const { move, complete, ...change } = await work(before.hot, before.final)
    const isWhole = !change.isDiscarded && change.orphans.length === 0 && before.hot.length === 0
    const isAlone = !isWhole || !(onHandled?.() ?? false)
    return { before, change, move, complete, isAlone, startedAt }
  }

  private async store(batches: readonly Prepared[]): Promise<void> {
    const { pool, stream, name, onCommit, teaches } = this.options
    const [first, last] = [batches[0], batches.at(-1)]
    if (!first || !last) throw new TypeError('no batch is to be stored')
    await Promise.all(batches.map(({ complete }) => complete()))
    this.assertHasLock()
    const before: StreamState = { position: this.position, ...first.before }
    let committed: Stored | undefined
    this.around = async (tx, library) => {
      const state = await readStreamState(tx, stream, 'FOR UPDATE')
      if (!isDeepStrictEqual(state, before))
        throw new CursorMovedError(name, describeState(before), describeState(state))
      await library()
      await takeWriterRole(pool, tx)
      const changes = batches.map(({ change }) => change)
      committed = await storeBatches(tx, stream, before, changes, teaches, this.packKeys)
    }
    await last.move(before.final).finally(() => {
      this.around = undefined
    })
    if (!committed) throw new TypeError('TypeormDatabase opened no transaction')
    this.position = committed.head
    const seconds = (performance.now() - first.startedAt) / 1000
    await onCommit?.({ ...committed, seconds, beside: last.isAlone ? 0 : batches.length })
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
    if (!this.isHandling) await this.settled()
    if (this.isHandling) return undefined
    const startedAt = performance.now()
    let committed: Stored | undefined
    const commit = super.submit(async em => {
      const tx = await connectionOf(em)
      const { rows } = await tx.query<{ head: number; headBlock: number; headTime: number }>(
        `SELECT head, head_height AS "headBlock", head_time AS "headTime" FROM stream WHERE id = $1 FOR UPDATE`,
        [stream],
      )
      const [state] = rows
      if (!state) throw new UnknownStreamError(stream)
      await takeWriterRole(pool, tx)
      const head = await appendEvents(tx, stream, state.head, blocks, this.packKeys)
      await storeTeaching(tx, stream, state.head, blocks, this.options.teaches)
      await tx.query('UPDATE stream SET head = $2, updated_at = clock_timestamp() WHERE id = $1', [
        stream,
        head,
      ])
      await storeSourceCursors(tx, stream, sources, from)
      await storeOlderSources(tx, stream, older)
      committed = { ...state, head, appended: head - state.head, retracted: 0 }
    })
    this.appending = commit.catch(() => {})
    await this.tracked(commit)
    return committed && { ...committed, seconds: (performance.now() - startedAt) / 1000, beside: 0 }
  }

  private tracked<T>(commit: Promise<T>): Promise<T> {
    const done = commit.finally(() => this.underWay.delete(done))
    this.underWay.add(done)
    return done
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

const countOf = ({ blocks }: Change) => blocks.reduce((sum, { events }) => sum + events.length, 0)
const isSame = (a: Cursor, b: Cursor) => a.height === b.height && a.hash === b.hash

/** The lock before the connection, whose end the server notices a moment later. */
async function giveBack(client: pg.PoolClient): Promise<void> {
  const broken = await client.query('SELECT pg_advisory_unlock_all()').catch((error: Error) => error)
  client.release(broken instanceof Error ? broken : undefined)
}
