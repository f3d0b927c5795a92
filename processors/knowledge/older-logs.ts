import { setTimeout as sleep } from 'node:timers/promises'
import type { BlockEvents } from '../../db/events/event-store.ts'
import type { EventWriter } from '../../db/events/event-writer.ts'
import type { OlderSource } from '../../db/events/older-logs.ts'
import type { WatchedSource } from '../../db/events/watched-sources.ts'
import { log } from '../../db/process/log.ts'
import { DAY } from '../../db/units.ts'
import { MOST_LOGS, openLogQueries, withinBounds } from '../source/log-queries.ts'
import type { ChainRpc } from '../source/rpc.ts'
import { type BlockLogs, TooManyLogsError } from '../source/rpc-logs.ts'
import type { KnownContracts } from './known-contracts.ts'

/** Blocks before its discovery from which a contract's logs come with the batch; and those asked for at once of what is older. */
const RANGE = 10_000
/** Events that wait to be stored at most, before more is made. */
const MOST_EVENTS = 5_000
/** Milliseconds between two ranges at least: half of the time is left to live blocks. */
const SHORTEST_REST = 20
/** Milliseconds until it is tried again after something went wrong. */
const PAUSE = 5_000

export interface OlderLogsOptions {
  rpc: ChainRpc
  contracts: KnownContracts
  finality: number
  /** Logs of a contract that are fetched in a day of the chain. */
  perDay: number
  /** Topics by kind. */
  topics(kind: string): string[]
  /** Sources, with what is taken from such contracts because it is taken anywhere. */
  withBesides(sources: readonly WatchedSource[]): WatchedSource[]
  /** Events of logs of these contracts, before they were discovered. */
  handle(found: BlockLogs[], sources: readonly WatchedSource[]): Promise<BlockEvents[]>
  /** What waits as stored. */
  read(): Promise<OlderSource[]>
}

/** What the handling of blocks has to do with it. */
export type OlderLogsOfBatch = Pick<OlderLogs, 'add' | 'near' | 'since' | 'take' | 'expect'>

/**
 * Anybody can have a contract of any age say its first word: what it logged long before is fetched range by range beside the
 * batches, and stored with them. How far that is stands in the store.
 *
 * All that wait are fetched in one sweep over the chain, each from where it is: however many strangers there are, nobody waits
 * longer than for the sweep under way and the next one.
 */
export class OlderLogs {
  private readonly options: OlderLogsOptions
  private readonly query: ReturnType<typeof openLogQueries>
  private readonly stopping = new AbortController()
  /** Of the sweep under way, as far as each is made. */
  private sources: OlderSource[] = []
  /** All of them are made up to here, or begin later. */
  private cursor = -1
  /** Made and not stored yet, with how far their contracts are then. */
  private made: BlockEvents[] = []
  private moved = new Map<string, OlderSource>()
  /** With the batch under way. */
  private taken: { blocks: number; moved: OlderSource[] } | undefined
  private wake: (() => void) | undefined
  /** There may be others, too; and there are, as soon as the batch is stored. */
  private areMore = true
  private isAdding = false
  /** Of the newest block of the batch under way, unix seconds. */
  private now = 0
  /** When one that has had its share of the day may go on. */
  private restsUntil = Number.POSITIVE_INFINITY
  /** Blocks that are asked for at once. */
  private range = RANGE
  /** Logs fetched on a day, by contract. */
  private spent = { day: -1, logs: new Map<string, number>() }

  constructor(options: OlderLogsOptions) {
    this.options = options
    this.query = openLogQueries(options.rpc)
  }

  start(): void {
    this.run().catch(error => log.error({ error: String(error) }, 'older logs are not fetched any more'))
  }

  stop(): void {
    this.stopping.abort()
    this.wake?.()
  }

  /** A contract was discovered: from where on its logs come with the batch; what is older waits. */
  add(
    store: EventWriter,
    source: WatchedSource,
    { created, discovered }: { created: number; discovered: number },
  ): number {
    const nearest = Math.max(0, discovered - Math.max(RANGE, this.options.finality))
    if (created >= nearest) return created
    store.setOlderSource({ ...source, cursor: created - 1, to: nearest - 1 })
    this.isAdding = true
    return nearest
  }

  /**
   * What contracts logged from a block up to one before their discovery, from the newest back: once that is more than they
   * may have in a day, and final, what is older waits as well.
   */
  async near(
    store: EventWriter,
    sources: readonly WatchedSource[],
    from: number,
    discovered: number,
  ): Promise<BlockLogs[]> {
    const { rpc, finality, perDay } = this.options
    const address = [...new Set(sources.map(({ contract }) => contract))]
    const found: BlockLogs[] = []
    let count = 0
    for (let to = discovered - 1, width = finality + 1; to >= from; ) {
      const start = Math.max(from, to - width + 1)
      const blocks = await orTooMany(rpc.logs({ address, from: start, to, most: MOST_LOGS }))
      width = blocks ? width * 2 : Math.max(1, Math.floor((to - start + 1) / 4))
      if (!blocks) continue
      found.unshift(...blocks)
      for (const { logs } of blocks) count += logs.length
      to = start - 1
      if (count <= perDay * address.length || to < from) continue
      this.leave(store, sources, from, to)
      return found
    }
    return found
  }

  /**
   * What contracts logged in final blocks from their discovery on, as far as it is held at once: up to a block. What they logged
   * after that, up to the last of these blocks, is fetched beside the blocks as what is older is.
   */
  async since(
    store: EventWriter,
    sources: readonly WatchedSource[],
    from: number,
    to: number,
  ): Promise<{ logs: BlockLogs[]; to: number }> {
    const address = [...new Set(sources.map(({ contract }) => contract))]
    const { rpc } = this.options
    const found = await withinBounds(to, end => rpc.logs({ address, from, to: end, most: MOST_LOGS }))
    if (found.to < to) this.leave(store, sources, found.to + 1, to)
    return found
  }

  /** What these logged in a range is fetched later. */
  private leave(store: EventWriter, sources: readonly WatchedSource[], from: number, to: number): void {
    for (const source of sources) store.setOlderSource({ ...source, cursor: from - 1, to })
    this.isAdding = true
  }

  /** For the history of added sources: what its contracts logged long before waits here, and is stored with batches alone. */
  ofHistory(): OlderLogsOfBatch {
    const [add, near, since] = [this.add.bind(this), this.near.bind(this), this.since.bind(this)]
    return { add, near, since, take: () => {}, expect: () => {} }
  }

  /** More is stored with the batch under way. */
  expect(): void {
    this.isAdding = true
  }

  /** Rows were stored that were not read yet. */
  look(): void {
    this.areMore = true
    this.wake?.()
  }

  /** What is made is stored with a batch. */
  take(store: EventWriter, now: number): void {
    this.taken = undefined
    if (Number.isFinite(now)) this.now = now
    if (this.now >= this.restsUntil) this.areMore = true
    if (this.moved.size === 0) return
    store.append(this.made)
    const moved = [...this.moved.values()]
    for (const source of moved) store.setOlderSource(source)
    this.taken = { blocks: this.made.length, moved }
  }

  /** The batch under way took something, or brought more to be fetched. */
  get isTouched(): boolean {
    return this.taken !== undefined || this.isAdding
  }

  /** The batch is stored. */
  commit(): void {
    if (this.taken) {
      this.made.splice(0, this.taken.blocks)
      for (const source of this.taken.moved)
        if (this.moved.get(nameOf(source)) === source) this.moved.delete(nameOf(source))
      this.taken = undefined
    }
    this.areMore ||= this.isAdding
    this.isAdding = false
    this.wake?.()
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping
    while (!signal.aborted) {
      const events = this.made.reduce((sum, { events }) => sum + events.length, 0)
      const isSwept = this.sources.length === 0
      if ((isSwept && (this.moved.size > 0 || !this.areMore)) || events >= MOST_EVENTS) {
        await new Promise<void>(resolve => {
          this.wake = resolve
        })
        continue
      }
      const startedAt = performance.now()
      const pause = await (isSwept ? this.begin() : this.make()).then(
        () => Math.max(SHORTEST_REST, performance.now() - startedAt),
        error => {
          this.areMore = true
          log.warn(
            { above: this.cursor, error: String(error) },
            'older logs could not be fetched, trying again',
          )
          return PAUSE
        },
      )
      await sleep(pause, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  /** Of all that wait now. */
  private async begin(): Promise<void> {
    const { contracts, read } = this.options
    this.areMore = false
    // A contract whose discovery was retracted is left out; how far it is stays noted until it is discovered again.
    const all = (await read()).filter(
      ({ kind, contract }) => contracts.knows(kind, contract) && !contracts.isIgnored(contract),
    )
    const resting = all.filter(({ notBefore = 0 }) => notBefore > this.now)
    this.restsUntil = Math.min(Number.POSITIVE_INFINITY, ...resting.map(({ notBefore = 0 }) => notBefore))
    this.sources = all.filter(({ notBefore = 0 }) => notBefore <= this.now)
    this.cursor = Math.min(...this.sources.map(({ cursor }) => cursor))
  }

  private async make(): Promise<void> {
    const { contracts, topics, handle, withBesides } = this.options
    const known = this.sources.filter(({ kind, contract }) => contracts.knows(kind, contract))
    const due = known.filter(({ cursor }) => cursor <= this.cursor)
    const later = known.filter(({ cursor }) => cursor > this.cursor)
    const end = Math.min(
      due.length > 0 ? this.cursor + this.range : Number.POSITIVE_INFINITY,
      ...due.map(({ to }) => to),
      ...later.map(({ cursor }) => cursor),
    )
    /** How far those are that have had their share of the day. */
    let sated = new Map<string, number>()
    if (due.length > 0) {
      const asked = withBesides(due).map(({ kind, contract }) => ({
        address: [contract],
        topic0: topics(kind),
      }))
      const logs = await orTooMany(this.query(asked, this.cursor + 1, end, { most: MOST_LOGS }))
      this.range = logs ? Math.min(RANGE, this.range * 2) : Math.max(1, Math.floor((end - this.cursor) / 8))
      if (!logs) return
      const found = this.share(logs)
      this.made.push(...(await handle(found.blocks, due)))
      sated = found.sated
    }
    const notBefore = (Math.floor(this.now / DAY) + 1) * DAY
    const moved = due.map(source => {
      const cursor = sated.get(source.contract)
      return cursor === undefined || cursor >= end
        ? { ...source, cursor: end }
        : { ...source, cursor, notBefore }
    })
    if (moved.some(({ cursor }) => cursor < end)) this.restsUntil = Math.min(this.restsUntil, notBefore)
    for (const source of moved) this.moved.set(nameOf(source), source)
    this.sources = [...moved.filter(({ cursor, to }) => cursor === end && to > end), ...later]
    this.cursor = end
    this.areMore ||= this.sources.length === 0
  }

  /** Whole blocks of each contract, as many as it may have today. */
  private share(blocks: readonly BlockLogs[]): { blocks: BlockLogs[]; sated: Map<string, number> } {
    const day = Math.floor(this.now / DAY)
    if (this.spent.day !== day) this.spent = { day, logs: new Map() }
    const { logs: spent } = this.spent
    const sated = new Map<string, number>()
    const shared = blocks.map(block => {
      const full = new Set<string>()
      for (const { address } of block.logs) {
        if (sated.has(address) || full.has(address) || (spent.get(address) ?? 0) < this.options.perDay)
          continue
        full.add(address)
      }
      for (const address of full) sated.set(address, block.number - 1)
      const logs = block.logs.filter(({ address }) => !sated.has(address))
      for (const { address } of logs) spent.set(address, (spent.get(address) ?? 0) + 1)
      return { ...block, logs }
    })
    return { blocks: shared.filter(({ logs }) => logs.length > 0), sated }
  }
}

/** undefined where there are more logs than are held at once. */
async function orTooMany(logs: Promise<BlockLogs[]>): Promise<BlockLogs[] | undefined> {
  try {
    return await logs
  } catch (error) {
    if (error instanceof TooManyLogsError) return undefined
    throw error
  }
}

const nameOf = ({ kind, contract, to }: OlderSource) => `${kind} ${contract} ${to}`
