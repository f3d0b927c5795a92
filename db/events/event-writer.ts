import type { BlockEvents } from './event-store.ts'
import type { LogsOfDay } from './log-budgets.ts'
import type { OlderSource } from './older-logs.ts'
import type { WaitingContract } from './waiting-contracts.ts'
import type { SourceCursor } from './watched-sources.ts'

/** What a handler has stored by the transaction that advances the cursor. */
export interface EventWriter {
  /** What was learned from blocks above this height does not hold any more: they are about to be retracted. */
  readonly baseHeight: number
  /** The stored block upon which these blocks stand; height -1 at the beginning of a chain. */
  readonly parent: { height: number; hash: string }
  /** The newest block that is stored and stays: `parent`, or a block above it that was seen hot. */
  readonly storedTo: number
  /** True when this very block is stored already (seen hot, now final): append only what was not watched then. */
  isStored(height: number, hash: string): boolean
  /** Events of blocks, in block order for each contract. Stored when the handler has returned, and after what was named by `waitFor`. */
  append(blocks: BlockEvents[]): void
  /**
   * What has to be done before the batch is stored, and may change its events until then, while the blocks after it are handled. Where
   * it fails, nothing of the batch is stored.
   */
  waitFor(work: Promise<void>): void
  /** Unix seconds of the newest block handled, whether or not it has events. */
  setHeadTime(timestamp: number): void
  /** How far the history of a source is stored with this. */
  setSourceCursor(source: SourceCursor): void
  /** How far the logs from before a contract's discovery are stored with this. */
  setOlderSource(source: OlderSource): void
  /** Which contracts wait to be looked at with this, or were. */
  setWaiting(contracts: readonly WaitingContract[]): void
  /** What contracts have logged by day with this; `done` is not to be remembered any more. */
  setLogBudgets(changed: readonly LogsOfDay[], done: readonly LogsOfDay[]): void
}

/** A writer, and what a handler did with it. */
export function openWriter(
  stored: Map<number, string>,
  baseHeight: number,
  parent: { height: number; hash: string },
): {
  writer: EventWriter
  blocks: BlockEvents[]
  /** Until all is done that the handler has named by `waitFor`. */
  complete(): Promise<void>
  headTime(): number
  sources: SourceCursor[]
  olderSources(): OlderSource[]
  waiting: WaitingContract[]
  logBudgets: { changed: LogsOfDay[]; done: LogsOfDay[] }
  /** Hashes by height that the handler named when it asked what is stored. */
  canonical: Map<number, string>
} {
  const blocks: BlockEvents[] = []
  const awaited: Promise<void>[] = []
  const canonical = new Map<number, string>()
  const sources: SourceCursor[] = []
  const older = new Map<string, OlderSource>()
  const waiting: WaitingContract[] = []
  const logBudgets: { changed: LogsOfDay[]; done: LogsOfDay[] } = { changed: [], done: [] }
  let newest = 0
  return {
    blocks,
    complete: async () => void (await Promise.all(awaited)),
    sources,
    waiting,
    logBudgets,
    olderSources: () => [...older.values()],
    headTime: () => newest,
    canonical,
    writer: {
      baseHeight,
      parent,
      storedTo: Math.max(parent.height, ...stored.keys()),
      isStored: (height, hash) => {
        canonical.set(height, hash)
        return stored.get(height) === hash
      },
      append: more => {
        for (const block of more) if (block.events.length > 0) blocks.push(block)
      },
      waitFor: work => {
        // Whoever stores the blocks is told.
        work.catch(() => {})
        awaited.push(work)
      },
      setHeadTime: timestamp => {
        newest = timestamp
      },
      setSourceCursor: source => {
        sources.push(source)
      },
      setOlderSource: source => {
        older.set(`${source.kind} ${source.contract} ${source.to}`, source)
      },
      setWaiting: contracts => {
        waiting.push(...contracts)
      },
      setLogBudgets: (changed, done) => {
        logBudgets.changed.push(...changed)
        logBudgets.done.push(...done)
      },
    },
  }
}
