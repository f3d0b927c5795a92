import { setTimeout as sleep } from 'node:timers/promises'
import type { Batch } from '@subsquid/util-internal-processor-tools'
import { UnavailableError } from '../../db/process/errors.ts'
import { BranchMismatchError } from '../handling/block.ts'
import type { Subscription } from '../handling/decode.ts'
import { added, merged, openLogQueries } from './log-queries.ts'
import type { BlockLogs, ChainHeader, ChainRpc } from './rpc.ts'
import type { SqdBlock } from './rpc-block.ts'

/** Blocks whose logs are asked for at once: more than the fewest while they hold no more than so many. */
const FEWEST = 10
const MOST = 10_000
const LOGS = 1_000
/** Blocks with logs of ours that are handed out together: each may be sampled, and a stop waits for all of them. */
const MOST_WITH_LOGS = 100
/** Ranges that are under way while others are handled. */
const AHEAD = 5
/** How often a node is asked for a block that it must have, and the milliseconds between. */
const TRIES = 10
const PAUSE = 100

export interface FinalBlocksOptions {
  rpc: Pick<ChainRpc, 'head' | 'header' | 'logs'>
  /** What is asked for; more of it from one batch to the next, as contracts are met. */
  subscriptions: () => readonly Partial<Subscription>[]
  /** Blocks after which one is final. */
  finality: number
  /** Blocks that may be handed out together. */
  span: () => number
  stopOnHead: boolean
  pollInterval: number
}

/** Blocks of a range that have logs, and its first and last one. */
interface Piece {
  from: number
  to: number
  blocks: SqdBlock[]
  subscriptions: readonly Partial<Subscription>[]
}

interface Fetch {
  to: number
  piece: Promise<Piece>
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
): AsyncGenerator<Batch<SqdBlock>> {
  const { rpc, finality, span, stopOnHead, pollInterval } = options
  const { fetch, width, upToDate } = openFetching(options)
  let top = -1
  let askedAt = Number.NEGATIVE_INFINITY

  for (const { from: first, to: end = Number.POSITIVE_INFINITY } of ranges) {
    const underWay: Fetch[] = []
    let from = first
    let isOver = false

    const fetchAhead = async () => {
      while (!isOver && underWay.length < AHEAD) {
        if (from > end) isOver = true
        else if (from <= top) {
          const to = Math.min(top, end, from + width() - 1)
          underWay.push(told(to, fetch(from, to)))
          from = to + 1
        } else if (performance.now() - askedAt >= pollInterval) {
          // The first block is as final as can be, as evm-processor has it.
          top = Math.max(0, (await rpc.head()).number - finality)
          askedAt = performance.now()
        } else if (stopOnHead) isOver = true
        else return
      }
    }

    for (await fetchAhead(); !isOver || underWay.length > 0; await fetchAhead()) {
      const next = underWay.shift()
      if (!next) {
        await sleep(pollInterval)
        continue
      }
      const piece = await upToDate(await next.piece)
      const fits = ({ isDone, to }: Fetch) =>
        isDone &&
        to - piece.from < span() &&
        piece.blocks.filter(({ logs }) => logs.length > 0).length < MOST_WITH_LOGS
      for (let more = underWay[0]; more && fits(more); more = underWay[0]) {
        underWay.shift()
        piece.blocks.push(...(await upToDate(await more.piece)).blocks)
        piece.to = more.to
      }
      for (let rest: Piece | undefined = piece; rest; ) {
        const { now, later }: { now: SqdBlock[]; later: Piece | undefined } = cut(await upToDate(rest))
        const isHead = from > top && underWay.length === 0 && !later
        await fetchAhead()
        yield { blocks: now, isHead }
        rest = later
      }
    }
  }
}

/** As many blocks as may be handled at once, and what is left. */
function cut(piece: Piece): { now: SqdBlock[]; later: Piece | undefined } {
  let withLogs = 0
  const at = piece.blocks.findIndex(({ logs }) => logs.length > 0 && ++withLogs === MOST_WITH_LOGS)
  const last = piece.blocks[at]
  if (!last || at === piece.blocks.length - 1) return { now: piece.blocks, later: undefined }
  return {
    now: piece.blocks.slice(0, at + 1),
    later: { ...piece, from: last.header.height + 1, blocks: piece.blocks.slice(at + 1) },
  }
}

/** What fails is told when it is its turn. */
function told(to: number, piece: Promise<Piece>): Fetch {
  const one: Fetch = { to, piece, isDone: false }
  piece.then(
    () => {
      one.isDone = true
    },
    () => {},
  )
  return one
}

/** Fetches ranges of final blocks, and says how many to ask for next. */
function openFetching({ rpc, subscriptions, span }: FinalBlocksOptions) {
  const logsOf = openLogQueries(rpc)
  let width = 10 * FEWEST

  async function headerOf(height: number): Promise<ChainHeader> {
    for (let tries = 1; tries <= TRIES; tries++) {
      const header = await rpc.header(height)
      if (header) return header
      await sleep(PAUSE)
    }
    throw new UnavailableError(`The node does not have block ${height}, which is final.`)
  }

  async function blockOf(height: number, found?: BlockLogs): Promise<SqdBlock> {
    const { hash, parentHash, timestamp } = await headerOf(height)
    if (found && found.hash !== hash) throw new BranchMismatchError(height)
    return {
      header: { height, hash, parentHash, timestamp: timestamp * 1000 },
      logs: found?.logs ?? [],
      transactions: [],
    }
  }

  const blocksOf = (found: readonly BlockLogs[], ends: readonly number[]) => {
    const byNumber = new Map(found.map(block => [block.number, block]))
    const heights = [...new Set([...byNumber.keys(), ...ends])].sort((a, b) => a - b)
    return Promise.all(heights.map(height => blockOf(height, byNumber.get(height))))
  }

  async function fetch(from: number, to: number): Promise<Piece> {
    const asked = subscriptions()
    const found = await logsOf(asked, from, to)
    const logs = found.reduce((sum, block) => sum + block.logs.length, 0)
    const blocks = to - from + 1
    width = Math.max(FEWEST, Math.min(MOST, 4 * blocks, Math.floor((blocks * LOGS) / Math.max(1, logs))))
    return { from, to, blocks: await blocksOf(found, [from, to]), subscriptions: asked }
  }

  /** With the logs of contracts that were met since it was fetched. */
  async function upToDate(piece: Piece): Promise<Piece> {
    const now = subscriptions()
    const more = added(piece.subscriptions, now)
    if (more.length === 0) return piece
    const found = await logsOf(more, piece.from, piece.to)
    const had = piece.blocks.map(({ header, logs }) => ({ number: header.height, hash: header.hash, logs }))
    const all = new Map(merged([...had, ...found]).map(block => [block.number, block]))
    const missing = found.filter(({ number }) => !had.some(block => block.number === number))
    const blocks = [...piece.blocks, ...(await blocksOf(missing, []))]
      .map(block => ({ ...block, logs: all.get(block.header.height)?.logs ?? [] }))
      .sort((a, b) => a.header.height - b.header.height)
    return { ...piece, blocks, subscriptions: now }
  }

  return { fetch, width: () => Math.min(width, Math.max(1, span())), upToDate }
}
