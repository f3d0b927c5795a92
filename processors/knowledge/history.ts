import { setTimeout as sleep } from 'node:timers/promises'
import type { BlockEvents } from '../../db/events/event-store.ts'
import { type EventWriter, openWriter } from '../../db/events/event-writer.ts'
import type { OlderSource } from '../../db/events/older-logs.ts'
import type { PendingSource, SourceCursor, WatchedSource } from '../../db/events/watched-sources.ts'
import { groupBy } from '../../db/group-by.ts'
import { VaultlogError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import { BranchMismatchError, type SourceBlock } from '../handling/block.ts'
import { collateralHolders } from '../samples/activity.ts'
import { blocksOf } from '../samples/hours.ts'
import type { SampleBudget } from '../samples/sample-budget.ts'
import { MOST_LOGS, merged, openLogQueries, withinBounds } from '../source/log-queries.ts'
import type { ChainRpc } from '../source/rpc.ts'
import type { BlockLogs } from '../source/rpc-logs.ts'
import type { KnownContracts } from './known-contracts.ts'

/** Blocks whose logs are asked for at once. */
const RANGE = 10_000
/** Blocks that are left when what is left comes together with the batch that it joins. */
const REST = 1_000
/** Batches for which it does not join while some of it is final and not made. */
const MOST_DELAYED = 20
/** Blocks with logs that are handled at once. */
const MOST_BLOCKS = 10
/** Hourly samples that are taken at once, and their hours. */
const MOST_SAMPLES = 200
const MOST_HOURS = 12
/** Milliseconds that are left to live blocks between two slices. */
const SHORTEST_REST = 50
const LONGEST_REST = 250
/** Milliseconds after which history goes on, however many batches there are. */
const PATIENCE = 2_000
/** Milliseconds until it is tried again after something went wrong. */
const PAUSE = 5_000

export interface HistoryOptions {
  rpc: ChainRpc
  /** Sources that lack history, all as far as one another. */
  pending: readonly PendingSource[]
  /** Handles the blocks of the past, by what is known of these sources alone. */
  handler: { handle(store: EventWriter, blocks: SourceBlock[]): Promise<void> }
  /** What that is; and of those that come with the blocks. */
  late: KnownContracts
  /** By which the handler samples, where a slice has what the ones before it have left; and that of the live blocks. */
  sampleBudgets?: { late: SampleBudget; live: SampleBudget } | undefined
  contracts: KnownContracts
  /** Topics by kind. */
  topics(kind: string): string[]
  /** Blocks after which a block is final. */
  finality: number
  /** Seconds between blocks, about. */
  blockTime: number
  /** Blocks asked for at once, 10,000 unless told. */
  range?: number | undefined
  /**
   * Stores events of the past with the cursors of their sources, which stood at `from`; false, and nothing is, while a batch
   * is being stored.
   */
  store(
    blocks: readonly BlockEvents[],
    sources: readonly SourceCursor[],
    from: number,
    older: readonly OlderSource[],
  ): Promise<boolean>
}

/** Blocks of the past, as they are to be stored. */
interface Slice {
  output: BlockEvents[]
  /** What is watched because of it. */
  learned: Learned[]
  /** What such contracts logged long before, which is fetched by itself. */
  older: OlderSource[]
}

type Learned = Omit<SourceCursor, 'cursor'>

/**
 * The history of what is watched since lately: the past is handled again as a chain from its start would be, for these
 * sources and the contracts that they lead to, with samples and hours, while the chain goes on. It is made and stored
 * between the live blocks, and never above what is final, until the rest is short enough to come together with the batch
 * that it joins. How far it is stands in the store: a new run goes on from there.
 */
export class History {
  private readonly options: HistoryOptions
  private readonly range: number
  private readonly anywhere: WatchedSource[]
  private readonly query: ReturnType<typeof openLogQueries>
  /** What is stored as far as `cursor`. */
  private sources: Learned[]
  private cursor: number
  /** Made and not stored yet, up to `madeTo`. */
  private ahead: Slice[] = []
  private madeTo: number
  private madeHash = '0x'
  /** Logs above that, as far as they are fetched. */
  private logs: BlockLogs[] = []
  private fetchedTo: number
  /** The newest block that may be handled. */
  private limit = -1
  /** Batches that it could have joined. */
  private delayed = 0
  /** Rejected: what is stored is not known, and the run is over. */
  private storing: Promise<void> | undefined
  private making: Promise<void> | undefined
  /** Ends with the batch under way. */
  private batch: Promise<void> | undefined
  private goOn: (() => void) | undefined
  private isStopped = false
  /** Of performance.now(): before that nothing is made, since something went wrong. */
  private pausedUntil = 0
  /** The failure that trying again cannot mend. */
  private failure: unknown
  /** Its sources are watched with all others now. */
  hasJoined = false

  constructor(options: HistoryOptions) {
    this.options = options
    this.range = options.range ?? RANGE
    this.query = openLogQueries(options.rpc)
    this.cursor = options.pending[0]?.cursor ?? -1
    this.sources = options.pending.map(({ kind, contract }) => ({ kind, contract }))
    this.anywhere = this.sources.filter(({ contract }) => contract === '')
    this.madeTo = this.cursor
    this.fetchedTo = this.cursor
  }

  /**
   * To be called before a batch's blocks are handled. Where the sources join them here: their logs of the batch's own
   * blocks, and what was before these is stored with it.
   * @param last the batch's newest block
   */
  async take(store: EventWriter, last: number): Promise<BlockLogs[] | undefined> {
    const { contracts, late, finality, sampleBudgets } = this.options
    this.goOn?.()
    await this.storing
    if (this.failure) throw this.failure
    const isPaused = () => performance.now() < this.pausedUntil
    // What is not final is always left.
    const isShort = last - this.cursor <= Math.max(Math.min(this.range, REST), 2 * finality)
    // What can still be made beside the blocks is not left to one of their batches, except to the first of a run.
    const isLeft = this.madeTo < this.limit && (!isShort || this.delayed++ < MOST_DELAYED)
    const joins = isShort && !isLeft && !isPaused() && (await this.makeRest(store.storedTo))
    if (!joins) {
      if (!isPaused()) {
        this.limit = Math.max(this.limit, Math.min(last - finality, store.parent.height))
        this.makeAhead()
      }
      return undefined
    }
    const { height, hash } = store.parent
    const isKnown = this.madeTo === height && this.madeHash !== '0x' && hash !== '0x'
    // Made of another branch than the one that it joins.
    if (isKnown && this.madeHash !== hash) throw new BranchMismatchError(height)
    for (const { output, older } of this.ahead) {
      store.append(output)
      for (const source of older) store.setOlderSource(source)
    }
    for (const source of this.withAhead()) store.setSourceCursor({ ...source, cursor: null })
    log.info({ sources: namesOf(this.sources) }, 'history is complete')
    contracts.adopt(late)
    sampleBudgets?.live.adopt(sampleBudgets.late)
    this.hasJoined = true
    return this.logsOf(this.watched(), store.storedTo + 1, last)
  }

  /** The batch is stored. */
  commit(): void {
    this.goOn?.()
  }

  /** Nothing more is made. */
  stop(): void {
    this.isStopped = true
    this.goOn?.()
  }

  /** Accounts that got collateral in a contract by what is not stored yet. */
  collateralHolders(contract: string): string[] {
    return this.ahead.flatMap(({ output }) => collateralHolders(contract, output))
  }

  /** The sources, with those that what is made has led to. */
  private withAhead(): Learned[] {
    return [...this.sources, ...this.ahead.flatMap(({ learned }) => learned)]
  }

  /** Never beside the handling of a batch. */
  private makeAhead(): void {
    this.batch = new Promise(resolve => {
      this.goOn = resolve
    })
    this.making ??= (async () => {
      for (let took = 0; this.ahead.length > 0 || this.madeTo < this.limit; ) {
        if (this.ahead.length === 0) {
          await this.quiet(took)
          if (this.isStopped) return
          const startedAt = performance.now()
          await this.make(this.limit)
          took = performance.now() - startedAt
        } else await this.batch
        // Told to stop meanwhile: it is stored with the batch that it joins, or made again.
        if (this.isStopped) return
        this.storing = this.storeAhead()
        await this.storing
      }
    })()
      .catch(error => this.fail(error))
      .finally(() => {
        this.making = undefined
      })
  }

  /** What is made, unless a batch came first: then after it. */
  private async storeAhead(): Promise<void> {
    const to = this.madeTo
    const sources = this.withAhead()
    const isStored = await this.options.store(
      this.ahead.flatMap(({ output }) => output),
      sources.map(source => ({ ...source, cursor: to })),
      this.cursor,
      this.ahead.flatMap(({ older }) => older),
    )
    if (!isStored) return void (await sleep(SHORTEST_REST))
    this.sources = sources
    this.cursor = to
    this.ahead = []
  }

  /**
   * Makes all that is left up to a block, at once; false where that did not work now. Where some of it was made, which may
   * not be final, the run is over: it cannot be stored by itself.
   */
  private async makeRest(to: number): Promise<boolean> {
    this.isStopped = true
    await this.making
    const before = this.madeTo
    try {
      while (this.madeTo < to) await this.make(to)
      return true
    } catch (error) {
      this.fail(error)
      if (this.failure) throw this.failure
      if (this.madeTo !== before) throw error
      this.isStopped = false
      return false
    }
  }

  /** The blocks of the chain do not wait for the past: it is tried again later. */
  private fail(error: unknown): void {
    if (error instanceof VaultlogError && !error.retryable) this.failure = error
    log.warn({ above: this.madeTo, error: String(error) }, 'history could not be made, trying again')
    this.pausedUntil = performance.now() + PAUSE
    this.logs = []
    this.fetchedTo = this.madeTo
  }

  /**
   * Waits for a time without batches, as long as making the last slice took: half of it is the live blocks' alone, and
   * nearly all of it while blocks are caught up with, one batch after the other.
   */
  private async quiet(took: number): Promise<void> {
    const since = performance.now()
    let batch: Promise<void> | undefined
    do {
      batch = this.batch
      await batch
      await sleep(Math.min(LONGEST_REST, Math.max(SHORTEST_REST, took)))
    } while (!this.isStopped && this.batch !== batch && performance.now() - since < PATIENCE)
    await this.batch
  }

  /** Handles the next blocks, up to `limit` at most. */
  private async make(limit: number): Promise<void> {
    const { rpc, handler, late } = this.options
    if (this.fetchedTo <= this.madeTo) {
      const to = Math.min(limit, this.madeTo + this.range)
      const fetched = await withinBounds(to, end =>
        this.logsOf(this.watched(), this.madeTo + 1, end, MOST_LOGS),
      )
      this.logs = fetched.logs
      this.fetchedTo = fetched.to
    }
    const to = Math.min(
      this.fetchedTo,
      this.madeTo + this.span(),
      this.logs[MOST_BLOCKS - 1]?.number ?? this.fetchedTo,
    )
    const found = this.logs.filter(({ number }) => number <= to)
    const [end, ...refs] = await Promise.all(
      [to, ...found.map(({ number }) => number)].map(height => rpc.header(height)),
    )
    const blocks = found.map(({ number, hash, logs }, i): SourceBlock => {
      const ref = refs[i]
      if (ref?.hash !== hash) throw new BranchMismatchError(number)
      return { ref, logs }
    })
    if (!end) throw new BranchMismatchError(to)
    if (blocks.at(-1)?.ref.number !== to) blocks.push({ ref: end, logs: [] })
    const {
      writer,
      blocks: output,
      complete,
      olderSources,
    } = openWriter(new Map(), Number.MAX_SAFE_INTEGER, {
      height: this.madeTo,
      hash: this.madeHash,
    })
    await handler.handle(writer, blocks)
    await complete()
    const learned = late.watchedLately()
    // Their logs up to here came with the slice.
    const more = await withinBounds(this.fetchedTo, end => this.logsOf(learned, to + 1, end, MOST_LOGS))
    // Committed last, since nothing fails from here on: a slice that is made again has to learn the same again.
    late.commit()
    this.options.sampleBudgets?.late.commit()
    this.logs = merged([...this.logs.filter(({ number }) => number > to && number <= more.to), ...more.logs])
    this.fetchedTo = more.to
    this.ahead.push({ output, learned, older: olderSources() })
    this.madeTo = to
    this.madeHash = end.hash
  }

  /** Blocks that may be handled at once, for the hours that are in them. */
  private span(): number {
    const { late, blockTime } = this.options
    const samples = late.samplesAnHour()
    return samples === 0 ? this.range : blocksOf(MOST_HOURS, Math.floor(MOST_SAMPLES / samples), blockTime)
  }

  private watched(): WatchedSource[] {
    return [...this.anywhere, ...this.options.late.watchedSources()]
  }

  private async logsOf(
    sources: readonly WatchedSource[],
    from: number,
    to: number,
    most?: number,
  ): Promise<BlockLogs[]> {
    if (from > to || sources.length === 0) return []
    const subscriptions = [...groupBy(sources, ({ kind }) => kind)].map(([kind, ofKind]) => {
      const address = ofKind.map(({ contract }) => contract)
      return { topic0: this.options.topics(kind), ...(address.includes('') ? {} : { address }) }
    })
    return this.query(subscriptions, from, to, { most })
  }
}

export function namesOf(sources: readonly WatchedSource[]): string[] {
  return sources.map(({ kind, contract }) => `${kind} ${contract}`)
}
