import { setTimeout as sleep } from 'node:timers/promises'
import { numberToHex } from 'viem'
import { z } from 'zod'
import { RpcRefusedError } from '../../db/chain/errors.ts'
import type { Ask } from '../../db/chain/failover.ts'
import { openFoundLimit } from '../../db/chain/found-limit.ts'
import { UnavailableError, VaultlogError } from '../../db/process/errors.ts'
import type { RawLog } from '../protocol.ts'
import { beginningOf, weightOf } from './log-weight.ts'
import { type LogFilter, type OnLeftOut, openReceiptLogs } from './receipt-logs.ts'
import type { ChainHeader, RpcHeaders } from './rpc-headers.ts'
import { hex, lowerHex, quantity, quantityOf } from './rpc-values.ts'

const logSchema = z.object({
  address: hex,
  topics: z.array(hex),
  data: hex,
  logIndex: quantity,
  transactionHash: hex,
  blockNumber: quantity,
  blockHash: hex,
})

/** A log of a block, its hex in lower case. */
interface Found {
  number: number
  hash: string
  time: number | undefined
  log: RawLog
  weight: number
}

export interface BlockLogs {
  number: number
  hash: string
  /** Unix seconds, where the node says it with every log of the block: `blockTimestamp`, not held against the header. */
  toldTime?: number | undefined
  logs: RawLog[]
}

export interface LogRange extends LogFilter {
  from: number
  to: number
  /** Logs that are held at once, about: a block has as many as it has. One with much data counts for several. */
  most?: number | undefined
  /** So many are expected that the answer shares no request with others, which would wait for it. */
  isLong?: boolean | undefined
  /** Told of blocks whose headers came with the logs: the last one of each request. */
  onHeader?: ((header: ChainHeader) => void) | undefined
}

export interface RpcLogs {
  /**
   * Logs of contracts in a range of blocks, grouped by block, ascending, each once. Splits the range where the node
   * refuses its size.
   *
   * @throws TooManyLogsError there are more than `most`, and blocks left
   */
  logs(range: LogRange): Promise<BlockLogs[]>
}

/** A range has more logs than are to be held at once. */
export class TooManyLogsError extends VaultlogError {
  readonly code = 'TOO_MANY_LOGS'
  override readonly retryable = true
  /** Up to this block they are not. */
  readonly reached: number
  constructor({ from, to, most }: LogRange, reached: number) {
    super(`Blocks ${from} to ${to} have more than ${most} logs. Fetching fewer blocks.`)
    this.reached = reached
  }
}

/** Widest range of eth_getLogs ever asked for. */
const LOG_RANGE = 10_000
/** How often a node is asked for a block that it should have any moment, and the milliseconds between. */
const TRIES_AT_HEAD = 6
const HEAD_PAUSE = 200

export function openRpcLogs(
  ask: Ask,
  { header }: Pick<RpcHeaders, 'header'>,
  onLeftOut?: OnLeftOut,
): RpcLogs {
  const receipts = openReceiptLogs(ask, onLeftOut)
  const widest = openFoundLimit(LOG_RANGE)

  /** Once the node has the last of the blocks. */
  async function whole(
    filter: LogFilter,
    from: number,
    to: number,
    { onHeader, isLong }: Pick<LogRange, 'onHeader' | 'isLong'>,
  ): Promise<unknown> {
    const wanted = { ...filter, fromBlock: numberToHex(from), toBlock: numberToHex(to) }
    for (let tries = 1; ; tries++) {
      // Both go with one request: a node that is behind says of blocks to come that they have no logs.
      const group = isLong ? {} : undefined
      const [found, end] = await Promise.all([ask('eth_getLogs', [wanted], { group }), header(to, { group })])
      if (end) {
        // A node that answers nothing has not answered: `undefined` is what this says of a refusal.
        if (!found)
          throw new UnavailableError(`The node answers nothing to a question for logs up to block ${to}.`)
        onHeader?.(end)
        return found
      }
      if (tries === TRIES_AT_HEAD)
        throw new UnavailableError(`The node was asked for logs up to block ${to} and does not have it.`)
      await sleep(HEAD_PAUSE)
    }
  }

  /** undefined where the node refuses several blocks at once: fewer are less. */
  async function atOnce(range: LogRange, from: number, to: number): Promise<unknown> {
    const { address, topics } = range
    const filter = { ...(address ? { address } : {}), ...(topics ? { topics } : {}) }
    if (from === to && receipts.isNeeded(filter)) return receipts.read(from, filter)
    try {
      const found = await whole(filter, from, to, range)
      receipts.answered(filter)
      return found
    } catch (error) {
      // A node that cannot be reached would not answer for fewer blocks either.
      if (!(error instanceof RpcRefusedError) || error.isGone) throw error
      if (from < to) return undefined
      if (!error.isAboutQuestion) throw error
      receipts.refused(filter)
      return receipts.read(from, filter)
    }
  }

  async function logs(range: LogRange): Promise<BlockLogs[]> {
    const { most = Number.POSITIVE_INFINITY } = range
    const blocks = new Map<number, BlockLogs>()
    let held = 0
    for (let from = range.from; from <= range.to; ) {
      const to = Math.min(range.to, from + widest.now() - 1)
      const answer = await atOnce(range, from, to)
      if (answer === undefined) {
        widest.refused(to - from + 1)
        continue
      }
      const found = logsOf(answer)
      for (const { weight } of found) held += weight
      if (held > most && range.from < range.to) {
        // The next answers are not to be as long.
        if (from < to) widest.refused(to - from + 1)
        throw new TooManyLogsError(range, from > range.from ? from - 1 : lastWithin(most, found, from))
      }
      for (const one of found) put(one, blocks)
      widest.answered(to - from + 1)
      from = to + 1
    }
    for (const block of blocks.values()) block.logs = eachOnce(block.logs)
    return [...blocks.values()].sort((a, b) => a.number - b.number)
  }

  return { logs }
}

/**
 * By hand: a first fill has tens of thousands in a second, and the schema takes several times as long. What is not as it should be,
 * it refuses.
 *
 * @throws ZodError
 */
function logsOf(answer: unknown): Found[] {
  const found: Found[] = []
  const texts = openTexts()
  for (const said of Array.isArray(answer) ? answer : []) {
    const one = readLog(said, texts)
    if (one) found.push(one)
  }
  if (Array.isArray(answer) && found.length === answer.length) return found
  z.array(logSchema).parse(answer)
  throw new UnavailableError('The node gave logs that cannot be read.')
}

/**
 * Addresses, topics and hashes of an answer, each of which many logs have: checked once, and one string for all of them, which is
 * found in maps at once from then on.
 */
function openTexts(): (value: unknown) => string | undefined {
  const known = new Map<unknown, string>()
  return value => {
    const had = known.get(value)
    if (had !== undefined) return had
    const text = lowerHex(value)
    if (text !== undefined) known.set(value, text)
    return text
  }
}

function readLog(said: unknown, text: ReturnType<typeof openTexts>): Found | undefined {
  if (typeof said !== 'object' || said === null) return undefined
  const { address, topics, data, logIndex, transactionHash, blockNumber, blockHash, blockTimestamp } =
    said as Record<string, unknown>
  const number = quantityOf(blockNumber)
  const hash = text(blockHash)
  const log = {
    address: text(address),
    topics: textsOf(topics, text),
    data: lowerHex(data),
    logIndex: quantityOf(logIndex),
    transactionHash: text(transactionHash),
  }
  if (number === undefined || hash === undefined || !isWhole(log)) return undefined
  const weight = weightOf(log)
  log.data = beginningOf(log.data)
  // Some nodes say 0 of all.
  return { number, hash, time: quantityOf(blockTimestamp) || undefined, log, weight }
}

const isWhole = (log: { [Key in keyof RawLog]: RawLog[Key] | undefined }): log is RawLog =>
  log.address !== undefined &&
  log.topics !== undefined &&
  log.data !== undefined &&
  log.logIndex !== undefined &&
  log.transactionHash !== undefined

function textsOf(topics: unknown, text: ReturnType<typeof openTexts>): string[] | undefined {
  if (!Array.isArray(topics)) return undefined
  const lower = topics.map(text)
  return lower.every(topic => topic !== undefined) ? lower : undefined
}

function put({ number, hash, time, log }: Found, blocks: Map<number, BlockLogs>): void {
  let block = blocks.get(number)
  if (!block) {
    block = { number, hash, toldTime: time, logs: [] }
    blocks.set(number, block)
  }
  if (block.toldTime !== time) block.toldTime = undefined
  if (block.hash !== hash)
    throw new UnavailableError(`The node's logs of block ${number} are of two branches.`)
  block.logs.push(log)
}

/** The last block up to which there are no more logs than so many, the first one at least. */
function lastWithin(most: number, found: readonly Found[], from: number): number {
  const ascending = [...found].sort((a, b) => a.number - b.number)
  let held = 0
  const over = ascending.find(({ weight }) => {
    held += weight
    return held > most
  })
  return Math.max(from, (over?.number ?? from + 1) - 1)
}

/** Logs in their block's order, each once: some nodes serve the seams of their ranges twice. */
export function eachOnce<T extends { logIndex: number }>(logs: T[]): T[] {
  if (logs.every(({ logIndex }, i) => logIndex > (logs[i - 1]?.logIndex ?? -1))) return logs
  const byIndex = new Map(logs.map(log => [log.logIndex, log]))
  return [...byIndex.values()].sort((a, b) => a.logIndex - b.logIndex)
}
