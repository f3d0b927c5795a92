import { setTimeout as sleep } from 'node:timers/promises'
import type { Batch } from '@subsquid/util-internal-processor-tools'
import { BranchMismatchError } from '../handling/block.ts'
import type { Subscription } from '../handling/decode.ts'
import { added } from './log-queries.ts'
import type { FinalBlock } from './rpc-block.ts'
import { eachOnce, TooManyLogsError } from './rpc-logs.ts'

type Subscriptions = readonly Partial<Subscription>[]

/** Where final blocks are read from. */
export interface FinalSource {
  /** The newest block that is final and to be had. */
  top(): Promise<number>
  /**
   * Blocks of a range that have logs which are subscribed to, and its ends, ascending. A source that stops where there is much
   * stops behind a block: the last one, which then is an end.
   */
  read(subscriptions: Subscriptions, from: number, to: number): Promise<FinalBlock[]>
  /**
   * The same of the whole range, without its ends, where some of its blocks are known.
   *
   * @throws TooManyLogsError there are more than are to be held
   */
  readMore(
    subscriptions: Subscriptions,
    from: number,
    to: number,
    known: readonly FinalBlock[],
  ): Promise<FinalBlock[]>
  /** A block without its logs. */
  header(height: number): Promise<FinalBlock>
  /** Blocks that may be asked for at once now. */
  widest(): number
  readonly sizes: {
    /** Blocks that are asked for at once: at first, at least, at most. */
    first: number
    least: number
    most: number
    /** Logs that these are to hold, about. */
    logs: number
    /** Ranges that are under way while others are handled. */
    ahead: number
  }
}

/** Blocks with logs of ours that are handed out together: each may be sampled, and a stop waits for all of them. */
const MOST_WITH_LOGS = 100

export interface FinalBlocksOptions {
  source: FinalSource
  /** What is asked for; more of it from one batch to the next, as contracts are met. */
  subscriptions: () => Subscriptions
  /** Blocks that may be handed out together. */
  span: () => number
  stopOnHead: boolean
  pollInterval: number
}

/** Blocks of a range that have logs, and its first and last one. */
interface Piece {
  from: number
  to: number
  blocks: FinalBlock[]
  subscriptions: Subscriptions
}

/** A range that is asked for, or is to be. */
interface Fetch {
  from: number
  to: number
  piece?: Promise<Piece>
  isDone: boolean
}

/**
 * Final blocks in order: those with logs that are subscribed to, and the first and the last of each range, which say that
 * it stands on the one before it. They are fetched ahead while those before are handled; what has come meanwhile is handed out
 * together. What is subscribed to meanwhile is asked for again of ranges that were fetched without it.
 */
export async function* finalBlocks(
  ranges: readonly { from: number; to?: number | undefined }[],
  options: FinalBlocksOptions,
): AsyncGenerator<Batch<FinalBlock>> {
  const { source, span, stopOnHead, pollInterval } = options
  const { fetch, width, upToDate } = openFetching(options)
  let top = -1
  let askedAt = Number.NEGATIVE_INFINITY

  for (const { from: first, to: end = Number.POSITIVE_INFINITY } of ranges) {
    const underWay: Fetch[] = []
    let from = first
    let isOver = false

    const fetchAhead = async () => {
      while (!isOver && underWay.length < source.sizes.ahead) {
        if (from > end) isOver = true
        else if (from <= top) {
          const to = Math.min(top, end, from + width() - 1)
          underWay.push({ from, to, isDone: false })
          from = to + 1
        } else if (performance.now() - askedAt >= pollInterval) {
          top = await source.top()
          askedAt = performance.now()
        } else if (stopOnHead) isOver = true
        else break
      }
      for (let i = 0; i < Math.min(underWay.length, source.sizes.ahead); i++) {
        const one = underWay[i]
        if (!one || one.piece) continue
        const to = Math.min(one.to, one.from + width() - 1)
        if (to < one.to) underWay.splice(i + 1, 0, { from: to + 1, to: one.to, isDone: false })
        one.to = to
        begin(one, fetch(one.from, to))
      }
    }
    const take = async (to: number, found: Piece | Promise<Piece>) => {
      const taken = await upToDate(await found)
      // It stopped where there is much: the rest is next.
      if (taken.to < to) underWay.unshift({ from: taken.to + 1, to, isDone: false })
      return taken
    }

    for (await fetchAhead(); !isOver || underWay.length > 0; await fetchAhead()) {
      const next = underWay.shift()
      if (!next) {
        await sleep(pollInterval)
        continue
      }
      const piece = await take(next.to, next.piece ?? fetch(next.from, next.to))
      const fits = ({ isDone, to }: Fetch) =>
        isDone &&
        to - piece.from < span() &&
        piece.blocks.filter(({ logs }) => logs.length > 0).length < MOST_WITH_LOGS
      for (let more = underWay[0]; more && fits(more); more = underWay[0]) {
        underWay.shift()
        const other = await take(more.to, more.piece ?? fetch(more.from, more.to))
        piece.blocks.push(...other.blocks)
        piece.to = other.to
      }
      for (let rest: Piece | undefined = piece; rest; ) {
        const { now, later }: { now: FinalBlock[]; later: Piece | undefined } = await cut(
          await take(rest.to, rest),
          Math.max(1, span()),
          source,
        )
        const isHead = from > top && underWay.length === 0 && !later
        await fetchAhead()
        yield { blocks: now, isHead }
        rest = later
      }
    }
  }
}

/** As many blocks as may be handled at once, and what is left. */
async function cut(
  piece: Piece,
  span: number,
  source: FinalSource,
): Promise<{ now: FinalBlock[]; later: Piece | undefined }> {
  const { from, to, blocks } = piece
  let withLogs = 0
  const full = blocks.find(({ logs }) => logs.length > 0 && ++withLogs === MOST_WITH_LOGS)
  const end = Math.min(to, full?.header.height ?? to, from + span - 1)
  if (end === to) return { now: blocks, later: undefined }
  const at = blocks.findIndex(({ header }) => header.height > end)
  const now = blocks.slice(0, at)
  if (now.at(-1)?.header.height !== end) now.push(await source.header(end))
  return { now, later: { ...piece, from: end + 1, blocks: blocks.slice(at) } }
}

/** What fails is told when it is its turn. */
function begin(one: Fetch, piece: Promise<Piece>): void {
  one.piece = piece
  piece.then(
    () => {
      one.isDone = true
    },
    () => {},
  )
}

/** Fetches ranges of final blocks, and says how many to ask for next. */
function openFetching({ source, subscriptions }: FinalBlocksOptions) {
  const { first, least, most, logs: mostLogs } = source.sizes
  let width = first

  async function fetch(from: number, to: number): Promise<Piece> {
    const asked = subscriptions()
    const blocks = await source.read(asked, from, to)
    const end = blocks.at(-1)?.header.height ?? to
    const logs = blocks.reduce((sum, block) => sum + block.logs.length, 0)
    const count = end - from + 1
    width = Math.max(least, Math.min(most, 4 * count, Math.floor((count * mostLogs) / Math.max(1, logs))))
    return { from, to: end, blocks, subscriptions: asked }
  }

  /** With the logs of contracts that were met since it was fetched. */
  async function upToDate(piece: Piece): Promise<Piece> {
    const now = subscriptions()
    const more = added(piece.subscriptions, now)
    if (more.length === 0) return piece
    try {
      const found = await source.readMore(more, piece.from, piece.to, piece.blocks)
      return { ...piece, blocks: together(piece.blocks, found), subscriptions: now }
    } catch (error) {
      if (!(error instanceof TooManyLogsError)) throw error
      return upToDate(await upTo(error.reached, piece))
    }
  }

  /** A piece as it would be had it ended there. */
  async function upTo(end: number, piece: Piece): Promise<Piece> {
    const blocks = piece.blocks.filter(({ header }) => header.height <= end)
    if (blocks.at(-1)?.header.height !== end) blocks.push(await source.header(end))
    return { ...piece, to: end, blocks }
  }

  return { fetch, width: () => Math.max(1, Math.min(width, source.widest())), upToDate }
}

/** The same blocks as others asked for them: each once, with what either has of it. */
export function together<Block extends FinalBlock>(
  some: readonly Block[],
  others: readonly Block[],
): Block[] {
  const byHeight = new Map<number, Block>(some.map(block => [block.header.height, block]))
  for (const other of others) {
    const { height, hash } = other.header
    const block = byHeight.get(height)
    if (block && block.header.hash !== hash) throw new BranchMismatchError(height)
    byHeight.set(
      height,
      block
        ? {
            ...block,
            logs: eachOnce([...block.logs, ...other.logs]),
            transactions: [
              ...new Map([...block.transactions, ...other.transactions].map(one => [one.hash, one])).values(),
            ],
          }
        : other,
    )
  }
  return [...byHeight.values()].sort((a, b) => a.header.height - b.header.height)
}
