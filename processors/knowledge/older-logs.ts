import { setTimeout as sleep } from 'node:timers/promises'
import type { BlockEvents } from '../../db/events/event-store.ts'
import type { EventWriter } from '../../db/events/event-writer.ts'
import type { OlderSource } from '../../db/events/older-logs.ts'
import type { WatchedSource } from '../../db/events/watched-sources.ts'
import { log } from '../../db/process/log.ts'
import type { BlockLogs, ChainRpc } from '../source/rpc.ts'
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
  /** Topics by kind. */
  topics(kind: string): string[]
  /** Events of logs of these contracts, before they were discovered. */
  handle(found: BlockLogs[], sources: readonly WatchedSource[]): Promise<BlockEvents[]>
  /** What waits as stored, the first first. */
  read(): Promise<OlderSource[]>
}

/**
 * Anybody can have a contract of any age say its first word: what it logged long before is fetched range by range beside the
 * batches, and stored with them. How far that is stands in the store.
 */
export class OlderLogs {
  private readonly options: OlderLogsOptions
  private readonly stopping = new AbortController()
  /** Those that are under way, all made up to `cursor`. */
  private sources: OlderSource[] = []
  private cursor = -1
  /** Made and not stored yet. */
  private made: BlockEvents[] = []
  private storedTo = -1
  /** With the batch under way. */
  private taken: { blocks: number; cursor: number } | undefined
  private wake: (() => void) | undefined
  /** There may be others, too; and there are, as soon as the batch is stored. */
  private areMore = true
  private isAdding = false

  constructor(options: OlderLogsOptions) {
    this.options = options
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

  /** What is made is stored with a batch. */
  take(store: EventWriter): void {
    this.taken = undefined
    if (this.cursor === this.storedTo) return
    store.append(this.made)
    for (const source of this.sources) store.setOlderSource({ ...source, cursor: this.cursor })
    this.taken = { blocks: this.made.length, cursor: this.cursor }
  }

  /** The batch is stored. */
  commit(): void {
    if (this.taken) {
      this.made.splice(0, this.taken.blocks)
      this.storedTo = this.taken.cursor
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
      const isIdle = this.storedTo >= this.end() && !this.areMore
      const waits = this.cursor >= this.end() && this.storedTo < this.end()
      if (isIdle || waits || events >= MOST_EVENTS) {
        await new Promise<void>(resolve => {
          this.wake = resolve
        })
        continue
      }
      const startedAt = performance.now()
      const work = this.storedTo >= this.end() ? this.next() : this.make()
      const pause = await work.then(
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

  private end(): number {
    return this.sources.length > 0 ? Math.min(...this.sources.map(({ to }) => to)) : this.cursor
  }

  /** The one that waits for the longest, and with it those that are as far. */
  private async next(): Promise<void> {
    const { contracts, read } = this.options
    this.areMore = false
    const all = (await read()).filter(({ contract }) => !contracts.isIgnored(contract))
    this.sources = all.filter(({ cursor }) => cursor === all[0]?.cursor)
    this.cursor = this.storedTo = all[0]?.cursor ?? -1
    this.areMore ||= all.length > 0
  }

  private async make(): Promise<void> {
    const { rpc, contracts, topics, handle } = this.options
    const to = Math.min(this.cursor + RANGE, this.end())
    // One whose discovery was retracted is nobody: discovered again, it begins anew.
    const known = this.sources.filter(({ kind, contract }) => contracts.knows(kind, contract))
    if (known.length > 0) {
      const found = await rpc.logs({
        address: [...new Set(known.map(({ contract }) => contract))],
        topics: [[...new Set(known.flatMap(({ kind }) => topics(kind)))]],
        from: this.cursor + 1,
        to,
      })
      this.made.push(...(await handle(found, known)))
    }
    this.cursor = to
  }
}
