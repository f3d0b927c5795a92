import type { PendingSource, WatchedSource } from '../db/events/watched-sources.ts'
import { log } from '../db/process/log.ts'
import type { BlockLogs, ChainRpc } from './rpc.ts'

/** Blocks asked for at once; a rest that is not longer comes together with the batch that it joins. */
const RANGE = 10_000
/** Blocks with logs that are added to one batch of the chain: what that costs, live blocks wait for. */
const MOST_BLOCKS = 200
/** Blocks with logs that are read ahead. */
const AHEAD = 4 * MOST_BLOCKS

export interface History {
  sources: readonly WatchedSource[]
  /** Ascending; all logs up to `to` that were not given before. */
  blocks: BlockLogs[]
  to: number
  /** The batch's own blocks are in it: from here on the sources come with the blocks. */
  joins: boolean
}

export interface BackfillOptions {
  rpc: ChainRpc
  pending: readonly PendingSource[]
  /** Topics by kind. */
  topics(kind: string): string[]
  /** Blocks asked for at once, 10,000 unless told. */
  range?: number | undefined
}

/** Sources that are as far as one another: contracts, asked for together, or kinds whose logs count anywhere. */
interface Group {
  sources: PendingSource[]
  cursor: number
}

/**
 * Fetches the history of what is watched since lately, one group after the other, while the chain goes on: read ahead
 * beside the live blocks, stored with them, and never above what is final, until the rest is short enough to come
 * together with the batch that it joins. Its position is the store's: a new run goes on from there.
 */
export class Backfill {
  private readonly options: BackfillOptions
  private readonly pending: Group[]
  private readonly range: number
  /** Read and not taken yet, of the first group pending. */
  private ahead: BlockLogs[] = []
  /** How far the first group pending has been read. */
  private readTo: number
  private reading: Promise<void> | undefined
  private failure: unknown

  constructor(options: BackfillOptions) {
    this.options = options
    const groups = new Map<string, Group>()
    for (const source of options.pending) {
      const key = `${source.contract === ''} ${source.cursor}`
      const group = groups.get(key) ?? { sources: [], cursor: source.cursor }
      groups.set(key, group)
      group.sources.push(source)
    }
    this.pending = [...groups.values()]
    this.range = options.range ?? RANGE
    this.readTo = this.pending[0]?.cursor ?? 0
  }

  /**
   * What is to be stored together with a batch.
   * @param last the batch's newest block
   * @param final the newest block that is final
   */
  async take(last: number, final: number): Promise<History | undefined> {
    const group = this.pending[0]
    if (!group) return undefined
    const { sources } = group
    if (last - group.cursor <= this.range) {
      await this.reading
      const blocks = [...this.ahead, ...(await this.read(group, this.readTo + 1, last))]
      this.pending.shift()
      this.ahead = []
      this.readTo = this.pending[0]?.cursor ?? 0
      log.info({ sources: sources.map(({ kind, contract }) => `${kind} ${contract}`) }, 'history is complete')
      return { sources, blocks, to: last, joins: true }
    }
    this.readAhead(group, final)
    if (this.failure) throw this.failure
    const blocks = this.ahead.splice(0, MOST_BLOCKS)
    const to = this.ahead.length > 0 ? (blocks.at(-1)?.number ?? group.cursor) : this.readTo
    if (to === group.cursor) return undefined
    group.cursor = to
    return { sources, blocks, to, joins: false }
  }

  /** Reads while it is not far ahead; what goes wrong is told to whoever takes next. */
  private readAhead(group: Group, final: number): void {
    this.reading ??= (async () => {
      while (this.readTo < final && this.ahead.length < AHEAD && this.pending[0] === group) {
        const to = Math.min(final, this.readTo + this.range)
        const blocks = await this.read(group, this.readTo + 1, to)
        this.ahead.push(...blocks)
        this.readTo = to
      }
    })()
      .catch(error => {
        this.failure = error
      })
      .finally(() => {
        this.reading = undefined
      })
  }

  private async read({ sources }: Group, from: number, to: number): Promise<BlockLogs[]> {
    const topics = [[...new Set(sources.flatMap(({ kind }) => this.options.topics(kind)))]]
    const address = [...new Set(sources.flatMap(({ contract }) => (contract ? [contract] : [])))]
    if (from > to) return []
    return this.options.rpc.logs({ ...(address.length > 0 ? { address } : {}), topics, from, to })
  }
}
