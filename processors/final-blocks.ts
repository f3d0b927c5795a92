import { setTimeout as sleep } from 'node:timers/promises'
import type { Batch } from '@subsquid/util-internal-processor-tools'
import type { Subscription } from './decode.ts'
import { openBlockReader, type RpcBlock, type SqdBlock } from './rpc-block.ts'

/**
 * Blocks that are asked for at once: more than the fewest while they hold no more than so many logs and transactions. And
 * how many of them with logs of ours are handed out together: each may be sampled, and a stop waits for all of them.
 */
const FEWEST = 10
const MOST = 100
const ITEMS = 1_000
/** Answers in a row after which as many as were refused are asked for again: it may have been another failure. */
const ANSWERS_BEFORE_WIDENING = 20
/** Requests for blocks that are under way while others are handled. */
const AHEAD = 5

interface Range {
  from: number
  to: number
}

/** The part of evm-processor's RPC source that fetches final blocks whole, and checks that they are. */
export interface FinalSource {
  getFinalizedHeight(): Promise<number>
  rpc: {
    withPriority(priority: number): {
      getColdSplit(split: {
        range: Range
        request: { logs: boolean; transactions: boolean }
      }): Promise<RpcBlock[]>
    }
  }
}

/** What is used of evm-processor's RPC client. */
export interface BatchClient {
  batchCall(batch: { method: string }[], options?: { retryAttempts?: number }): Promise<unknown[]>
}

interface Fetch {
  blocks: Promise<SqdBlock[]>
  isDone: boolean
}

/**
 * Final blocks in order, fetched ahead while those before are handled. What has come meanwhile is handed out together:
 * sixty blocks are stored in little more time than ten.
 */
export async function* finalBlocks(
  source: FinalSource,
  subscriptions: readonly Partial<Subscription>[],
  ranges: readonly { from: number; to?: number | undefined }[],
  { stopOnHead, pollInterval }: { stopOnHead: boolean; pollInterval: number },
): AsyncGenerator<Batch<SqdBlock>> {
  const { fetch, width } = openFetching(source, subscriptions)
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
          underWay.push(told(fetch({ from, to })))
          from = to + 1
        } else if (performance.now() - askedAt >= pollInterval) {
          top = await source.getFinalizedHeight()
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
      const blocks = await next.blocks
      while (underWay[0]?.isDone && blocks.filter(({ logs }) => logs.length > 0).length < MOST)
        blocks.push(...((await underWay.shift()?.blocks) ?? []))
      const isHead = from > top && underWay.length === 0
      await fetchAhead()
      yield { blocks, isHead }
    }
  }
}

/** What fails is told when it is its turn. */
function told(blocks: Promise<SqdBlock[]>): Fetch {
  const one: Fetch = { blocks, isDone: false }
  blocks.then(
    () => {
      one.isDone = true
    },
    () => {},
  )
  return one
}

/** Fetches ranges of final blocks, and says how many to ask for next. */
function openFetching(source: FinalSource, subscriptions: readonly Partial<Subscription>[]) {
  const read = openBlockReader(subscriptions)
  const request = { logs: true, transactions: subscriptions.some(({ transaction }) => transaction) }
  let width = FEWEST
  let most = MOST
  let inARow = 0

  const ask = (range: Range) => source.rpc.withPriority(range.from).getColdSplit({ range, request })

  async function fetch(range: Range): Promise<SqdBlock[]> {
    const asked = range.to - range.from + 1
    try {
      const blocks = await ask(range)
      const items = blocks.reduce(
        (sum, { logs, block }) => sum + (logs?.length ?? 0) + block.transactions.length,
        0,
      )
      if (asked >= most && ++inARow >= ANSWERS_BEFORE_WIDENING) {
        most = Math.min(MOST, 2 * most)
        inARow = 0
      }
      width = Math.max(FEWEST, Math.min(most, 2 * asked, Math.floor((asked * ITEMS) / Math.max(1, items))))
      return blocks.map(read)
    } catch (error) {
      if (asked <= FEWEST) throw error
      // More than the node answers at once, perhaps: nodes limit batches, and most do not say so in a way to be told apart.
      most = Math.max(FEWEST, Math.min(most, Math.floor(asked / 2)))
      width = FEWEST
      inARow = 0
      const blocks: SqdBlock[] = []
      for (let { from } = range; from <= range.to; from += FEWEST)
        blocks.push(...(await fetch({ from, to: Math.min(range.to, from + FEWEST - 1) })))
      return blocks
    }
  }

  return { fetch, width: () => width }
}

/** Batches that a node may refuse for their size alone are not tried for minutes: there are smaller ones. */
export function withLittlePatience(client: BatchClient): void {
  const batchCall = client.batchCall.bind(client)
  client.batchCall = (batch, options) =>
    batchCall(batch, batch.length > FEWEST ? { ...options, retryAttempts: 1 } : options)
}
