import { setTimeout as sleep } from 'node:timers/promises'
import type { EIP1193RequestFn } from 'viem'
import {
  BaseError,
  createClient,
  decodeFunctionResult,
  encodeFunctionData,
  fallback,
  hexToBytes,
  hexToNumber,
  http,
  keccak256,
  multicall3Abi,
  numberToHex,
  webSocket,
} from 'viem'
import { z } from 'zod'
import type { BlockRef } from '../db/events/event-store.ts'
import { UnavailableError } from '../db/process/errors.ts'
import type { ContractReader, RawLog } from './protocol.ts'

const hex = z.string().regex(/^0x[0-9a-fA-F]*$/)
const headerSchema = z.object({ number: hex, hash: hex, timestamp: hex })
const bloomSchema = z.object({ logsBloom: hex.length(514) })
const logSchema = z.object({
  address: hex,
  topics: z.array(hex),
  data: hex,
  logIndex: hex,
  transactionHash: hex,
  blockNumber: hex,
  blockHash: hex,
})

const transactionSchema = z.object({ to: hex.nullish(), input: hex }).nullable()

export interface BlockLogs {
  number: number
  hash: string
  logs: RawLog[]
}

/** What a processor asks of a node besides what evm-processor fetches. Every answer is zod-checked. */
export interface ChainRpc {
  chainId(): Promise<number>
  head(): Promise<BlockRef>
  /** undefined when the node does not have the block. */
  header(height: number): Promise<BlockRef | undefined>
  /**
   * Logs of contracts in a range of blocks, grouped by block, ascending, each once. Splits the range where the node
   * refuses its size.
   */
  logs(filter: { address?: string[]; topics?: string[][]; from: number; to: number }): Promise<BlockLogs[]>
  /** Whether a contract may have logs in a block, by its header; undefined when the node does not have the block. */
  bloom(height: number): Promise<((contract: string) => boolean) | undefined>
  /** eth_calls at one block through Multicall3, or one by one where it does not exist; undefined for a call that reverts. */
  calls(calls: { to: string; data: string }[], block: BlockRef): Promise<(string | undefined)[]>
  /** Which of these contracts exist at the end of a block; those of which a node does not know count as existing. */
  haveCode(contracts: readonly string[], block: BlockRef): Promise<Set<string>>
  /** What transactions call, by hash; one that the node does not have is left out. */
  transactions(hashes: readonly string[]): Promise<Map<string, TransactionCall>>
  reader(block: BlockRef): ContractReader
}

export interface TransactionCall {
  /** Absent where a contract is created. */
  to?: string
  input: string
}

/** Widest range of eth_getLogs ever asked for. */
const LOG_RANGE = 10_000
/** Answers in a row after which a range that was refused is asked for again: limits differ by how full blocks are. */
const ANSWERS_BEFORE_WIDENING = 8
const CALLS_PER_MULTICALL = 400
/** How often a node is asked for a block that it should have any moment, and the milliseconds between. */
const TRIES_AT_HEAD = 6
const HEAD_PAUSE = 200

export function openChainRpc(urls: readonly string[], multicall: string): ChainRpc {
  const transports = urls.map(url =>
    /^wss?:/.test(url)
      ? webSocket(url, { retryCount: 3, timeout: 20_000 })
      : http(url, { batch: { batchSize: 100, wait: 2 }, retryCount: 3, timeout: 20_000 }),
  )
  const client = createClient({ transport: fallback(transports) })
  const request = client.request as EIP1193RequestFn
  const ask = async (method: string, params: unknown[]): Promise<unknown> => {
    try {
      return await request({ method, params } as never)
    } catch (error) {
      throw new RpcRefusedError(method, error)
    }
  }

  async function header(height: number): Promise<BlockRef | undefined> {
    const answer = headerSchema
      .nullable()
      .parse(await ask('eth_getBlockByNumber', [numberToHex(height), false]))
    if (!answer) return undefined
    return {
      number: height,
      hash: answer.hash.toLowerCase(),
      timestamp: hexToNumber(answer.timestamp as `0x${string}`),
    }
  }

  async function head(): Promise<BlockRef> {
    const height = hexToNumber(hex.parse(await ask('eth_blockNumber', [])) as `0x${string}`)
    const block = await header(height)
    if (!block) throw new UnavailableError(`The node names block ${height} as its head and does not have it.`)
    return block
  }

  const widest = openLogRange()

  async function logs(filter: {
    address?: string[]
    topics?: string[][]
    from: number
    to: number
  }): Promise<BlockLogs[]> {
    const blocks = new Map<number, BlockLogs>()
    for (let from = filter.from; from <= filter.to; ) {
      const to = Math.min(filter.to, from + widest.range() - 1)
      const wanted = {
        ...(filter.address ? { address: filter.address } : {}),
        topics: filter.topics,
        fromBlock: numberToHex(from),
        toBlock: numberToHex(to),
      }
      let answer: unknown
      try {
        // Both go with one request: a node that is behind says of blocks to come that they have no logs.
        for (let tries = 1; ; tries++) {
          const [found, end] = await Promise.all([ask('eth_getLogs', [wanted]), header(to)])
          answer = found
          if (end) break
          if (tries === TRIES_AT_HEAD)
            throw new UnavailableError(`The node was asked for logs up to block ${to} and does not have it.`)
          await sleep(HEAD_PAUSE)
        }
      } catch (error) {
        // A node that cannot be reached would not answer for fewer blocks either.
        if (from === to || !(error instanceof RpcRefusedError) || error.isUnreachable) throw error
        widest.refused(to - from + 1)
        continue
      }
      for (const log of z.array(logSchema).parse(answer)) {
        const number = hexToNumber(log.blockNumber as `0x${string}`)
        const block = blocks.get(number) ?? { number, hash: log.blockHash.toLowerCase(), logs: [] }
        blocks.set(number, block)
        if (block.hash !== log.blockHash.toLowerCase())
          throw new UnavailableError(`The node's logs of block ${number} are of two branches.`)
        block.logs.push({
          address: log.address.toLowerCase(),
          topics: log.topics,
          data: log.data,
          logIndex: hexToNumber(log.logIndex as `0x${string}`),
          transactionHash: log.transactionHash.toLowerCase(),
        })
      }
      widest.answered(to - from + 1)
      from = to + 1
    }
    for (const block of blocks.values()) block.logs = eachOnce(block.logs)
    return [...blocks.values()].sort((a, b) => a.number - b.number)
  }

  async function call(to: string, data: string, block: BlockRef): Promise<string | undefined> {
    try {
      const answer = hex.parse(await ask('eth_call', [{ to, data }, { blockHash: block.hash }]))
      return answer === '0x' ? undefined : answer
    } catch (error) {
      if (error instanceof RpcRefusedError && error.isRevert) return undefined
      throw error
    }
  }

  const hasMulticall = new Map<number, boolean>()
  async function multicallExists(block: BlockRef): Promise<boolean> {
    for (const [height, exists] of hasMulticall) if (exists && height <= block.number) return true
    const code = hex.parse(await ask('eth_getCode', [multicall, numberToHex(block.number)]))
    if (code !== '0x') hasMulticall.set(block.number, true)
    return code !== '0x'
  }

  async function calls(
    list: { to: string; data: string }[],
    block: BlockRef,
  ): Promise<(string | undefined)[]> {
    if (list.length === 0) return []
    if (list.length < 3 || !(await multicallExists(block))) {
      return Promise.all(list.map(({ to, data }) => call(to, data, block)))
    }
    const chunks: { to: string; data: string }[][] = []
    for (let i = 0; i < list.length; i += CALLS_PER_MULTICALL)
      chunks.push(list.slice(i, i + CALLS_PER_MULTICALL))
    const answers = await Promise.all(
      chunks.map(async chunk => {
        const data = encodeFunctionData({
          abi: multicall3Abi,
          functionName: 'aggregate3',
          args: [
            chunk.map(({ to, data }) => ({
              target: to as `0x${string}`,
              allowFailure: true,
              callData: data as `0x${string}`,
            })),
          ],
        })
        const answer = await call(multicall, data, block)
        // One call that burns all the gas takes the others with it: then each is asked alone.
        if (!answer) return Promise.all(chunk.map(({ to, data }) => call(to, data, block)))
        return decodeFunctionResult({
          abi: multicall3Abi,
          functionName: 'aggregate3',
          data: answer as `0x${string}`,
        }).map(result => (result.success && result.returnData !== '0x' ? result.returnData : undefined))
      }),
    )
    return answers.flat()
  }

  async function transactions(hashes: readonly string[]): Promise<Map<string, TransactionCall>> {
    const found = new Map<string, TransactionCall>()
    await Promise.all(
      hashes.map(async hash => {
        const answer = transactionSchema.parse(await ask('eth_getTransactionByHash', [hash]))
        if (answer) found.set(hash, { to: answer.to?.toLowerCase(), input: answer.input })
      }),
    )
    return found
  }

  async function haveCode(contracts: readonly string[], block: BlockRef): Promise<Set<string>> {
    const found = await Promise.all(
      contracts.map(async contract => {
        try {
          return hex.parse(await ask('eth_getCode', [contract, { blockHash: block.hash }])) !== '0x'
        } catch (error) {
          // A node that does not know is not a contract that does not exist.
          if (error instanceof RpcRefusedError && !error.isUnreachable) return true
          throw error
        }
      }),
    )
    return new Set(contracts.filter((_, i) => found[i]))
  }

  async function deployment(
    contract: string,
    upTo: number,
  ): Promise<{ block: number; timestamp: number } | undefined> {
    const exists = async (height: number) =>
      hex.parse(await ask('eth_getCode', [contract, numberToHex(height)])) !== '0x'
    try {
      if (!(await exists(upTo))) return undefined
      let absent = -1
      let present = upTo
      while (present - absent > 1) {
        const middle = Math.floor((absent + present) / 2)
        if (await exists(middle)) present = middle
        else absent = middle
      }
      const block = await header(present)
      return block && { block: block.number, timestamp: block.timestamp }
    } catch (error) {
      // A node without old states cannot tell: the block stays unknown (invariant 7). One that is out of reach may.
      if (error instanceof RpcRefusedError && error.isAnswered) return undefined
      throw error
    }
  }

  return {
    chainId: async () => hexToNumber(hex.parse(await ask('eth_chainId', [])) as `0x${string}`),
    head,
    header,
    logs,
    async bloom(height) {
      const answer = bloomSchema
        .nullable()
        .parse(await ask('eth_getBlockByNumber', [numberToHex(height), false]))
      return answer ? contract => mayHold(answer.logsBloom, contract) : undefined
    },
    calls,
    haveCode,
    transactions,
    reader: block => ({
      blockNumber: block.number,
      call: (contract, data) => call(contract, data, block),
      deployment: contract => deployment(contract, block.number),
    }),
  }
}

/** Logs in their block's order, each once: some nodes serve the seams of their ranges twice. */
export function eachOnce<T extends { logIndex: number }>(logs: readonly T[]): T[] {
  const byIndex = new Map(logs.map(log => [log.logIndex, log]))
  return [...byIndex.values()].sort((a, b) => a.logIndex - b.logIndex)
}

/** A logs bloom has three bits of 2048 set for each address with a log (Yellow Paper, 4.3.1); no false negatives. */
function mayHold(bloom: string, address: string): boolean {
  const hash = hexToBytes(keccak256(address as `0x${string}`))
  return [0, 2, 4].every(at => {
    const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047
    const byte = 2 + (255 - (bit >> 3)) * 2
    return (Number.parseInt(bloom.slice(byte, byte + 2), 16) & (1 << (bit & 7))) !== 0
  })
}

/** What a node was found to serve at once, for as long as the process knows it. */
function openLogRange() {
  let range = LOG_RANGE
  let refusedAt = Number.POSITIVE_INFINITY
  let inARow = 0
  return {
    range: () => range,
    refused(blocks: number) {
      refusedAt = blocks
      range = Math.max(1, Math.floor(blocks / 2))
      inARow = 0
    },
    answered(blocks: number) {
      if (blocks < range) return
      inARow++
      if (inARow >= ANSWERS_BEFORE_WIDENING) {
        refusedAt = Number.POSITIVE_INFINITY
        inARow = 0
      }
      if (range * 2 < refusedAt) range = Math.min(LOG_RANGE, range * 2)
    },
  }
}

/** The node answered with an error or not at all. */
export class RpcRefusedError extends UnavailableError {
  readonly isRevert: boolean
  /** The node does not keep the state of that block (not an archive node), or the block is not canonical any more. */
  readonly isMissingState: boolean
  /** No answer came from the node itself: connection, gateway, rate limit. */
  readonly isUnreachable: boolean
  /** The node itself refused. Neither that nor unreachable: it was silent, and may answer a smaller question. */
  readonly isAnswered: boolean
  constructor(method: string, cause: unknown) {
    const message = cause instanceof Error ? cause.message : String(cause)
    super(`${method} failed: ${message.split('\n')[0]}`, { cause })
    const { name, status } = (cause ?? {}) as { name?: string; status?: number }
    this.isUnreachable =
      name === 'WebSocketRequestError' ||
      (name === 'HttpRequestError' &&
        (status === undefined || status === 429 || (status > 500 && status < 504)))
    this.isAnswered = !this.isUnreachable && name !== 'TimeoutError'
    // The node's own words: viem's whole message has the URL in it, and who runs nodes calls them by such words.
    const said = cause instanceof BaseError ? cause.details : message
    this.isRevert = this.isAnswered && REVERT.test(said)
    this.isMissingState = this.isAnswered && MISSING_STATE.test(said)
  }
}

/** What clients say of code that failed; a call that was given up (geth: "execution aborted") is not among it. */
const REVERT =
  /revert|invalid opcode|out of gas|outofgas|vm execution error|stack ?(under|over)flow|stack limit|invalid ?(FE ?opcode|jump)|bad ?instruction|write protection|return data out of bounds|gas uint64 overflow/i

const MISSING_STATE =
  /missing trie node|state (is|not|histor|unavail)|pruned|archive|(header|block).{0,20}(not found|not exist|unknown)|BlockOutOfRange/i
