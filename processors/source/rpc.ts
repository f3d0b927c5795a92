import { setTimeout as sleep } from 'node:timers/promises'
import { hexToBytes, hexToNumber, keccak256, numberToHex } from 'viem'
import { z } from 'zod'
import type { BoundedAnswer } from '../../db/chain/bounded-reader.ts'
import { RpcRefusedError, StateMissingError } from '../../db/chain/errors.ts'
import { openFailover } from '../../db/chain/failover.ts'
import { openFoundLimit } from '../../db/chain/found-limit.ts'
import { type BlockParameter, openStrangerReader } from '../../db/chain/stranger-reader.ts'
import type { BlockRef } from '../../db/events/event-store.ts'
import { UnavailableError, VaultlogError } from '../../db/process/errors.ts'
import type { ContractReader, RawLog, StateCall } from '../protocol.ts'
import { openContractReaders } from './contract-readers.ts'
import { openKeptState } from './kept-state.ts'
import { beginningOf, weightOf } from './log-weight.ts'
import { openLostState } from './lost-state.ts'
import { type OnLeftOut, openReceiptLogs } from './receipt-logs.ts'

const hex = z.string().regex(/^0x[0-9a-fA-F]*$/)
const headerSchema = z.object({ number: hex, hash: hex, parentHash: hex, timestamp: hex })
const bloomSchema = z.object({ hash: hex, timestamp: hex, logsBloom: hex.length(514) })
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

/** A block as its header has it. */
export interface ChainHeader extends BlockRef {
  parentHash: string
}

export interface BlockBloom {
  hash: string
  timestamp: number
  mayHold(contract: string): boolean
}

/** What a processor asks of a node besides what evm-processor fetches. Every answer is zod-checked. */
export interface ChainRpc {
  chainId(): Promise<number>
  head(): Promise<BlockRef>
  /** undefined when the node does not have the block. */
  header(height: number): Promise<ChainHeader | undefined>
  /**
   * Logs of contracts in a range of blocks, grouped by block, ascending, each once. Splits the range where the node
   * refuses its size.
   *
   * @throws TooManyLogsError there are more than `most`, and blocks left
   */
  logs(filter: LogRange): Promise<BlockLogs[]>
  /** A block's header, with whether a contract may have logs in it; undefined when the node does not have the block. */
  bloom(height: number): Promise<BlockBloom | undefined>
  /**
   * eth_calls at one block; undefined for a call that is not answered. `onTrouble` is told of contracts that neither answer
   * nor revert; each has so much gas.
   *
   * @throws StateMissingError
   */
  calls(
    calls: readonly StateCall[],
    block: BlockRef,
    onTrouble?: OnTrouble,
    gas?: number,
    onUsed?: OnUsed,
  ): Promise<(string | undefined)[]>
  /** Which of these contracts exist at the end of a block; none where the node has no state of it. */
  haveCode(contracts: readonly string[], block: BlockRef): Promise<Set<string>>
  /**
   * Those of these contracts that exist at a height.
   *
   * @throws StateMissingError
   * @throws RpcRefusedError the node does not know
   */
  codeAt(contracts: readonly string[], height: number): Promise<string[]>
  /** What transactions call, by hash; one that the node does not have is left out. */
  transactions(hashes: readonly string[]): Promise<Map<string, TransactionCall>>
  /** Reads at the end of a block, or at the newest one where the node has no state of that any more. */
  reader(block: BlockRef): ContractReader
}

export interface LogRange {
  address?: string[]
  topics?: string[][]
  from: number
  to: number
  /** Logs that are held at once, about: a block has as many as it has. One with much data counts for several. */
  most?: number | undefined
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

type OnTrouble = (contract: string, trouble: string) => void
/** Told what each call used; 0 where the node does not say. */
type OnUsed = (gas: readonly number[]) => void

export interface TransactionCall {
  /** Absent where a contract is created. */
  to?: string
  input: string
}

/** Widest range of eth_getLogs ever asked for. */
const LOG_RANGE = 10_000
/** Blocks that most contracts are younger than when they are met: asked at once, so that few questions are left. */
const AGES = [1, 16, 256, 4_096, 65_536, 1_048_576, 16_777_216]

/** How often a node is asked for a block that it should have any moment, and the milliseconds between. */
const TRIES_AT_HEAD = 6
const HEAD_PAUSE = 200

export function openChainRpc(urls: readonly string[], onLeftOut?: OnLeftOut): ChainRpc {
  const ask = openFailover(urls)
  const receipts = openReceiptLogs(ask, onLeftOut)
  const strangers = openStrangerReader(ask)
  const isKept = openKeptState(ask)

  async function header(height: number): Promise<ChainHeader | undefined> {
    const answer = headerSchema
      .nullable()
      .parse(await ask('eth_getBlockByNumber', [numberToHex(height), false]))
    if (!answer) return undefined
    return {
      number: height,
      hash: answer.hash.toLowerCase(),
      parentHash: answer.parentHash.toLowerCase(),
      timestamp: hexToNumber(answer.timestamp as `0x${string}`),
    }
  }

  async function head(): Promise<BlockRef> {
    const height = hexToNumber(hex.parse(await ask('eth_blockNumber', [])) as `0x${string}`)
    const block = await header(height)
    if (!block) throw new UnavailableError(`The node names block ${height} as its head and does not have it.`)
    return block
  }

  const widest = openFoundLimit(LOG_RANGE)

  /** undefined where the node refuses several blocks at once: fewer are less. */
  async function logsAtOnce(
    { address, topics }: { address?: string[]; topics?: string[][] },
    from: number,
    to: number,
  ): Promise<unknown> {
    const filter = { ...(address ? { address } : {}), ...(topics ? { topics } : {}) }
    if (from === to && receipts.isNeeded(filter)) return receipts.read(from, filter)
    const wanted = { ...filter, fromBlock: numberToHex(from), toBlock: numberToHex(to) }
    try {
      // Both go with one request: a node that is behind says of blocks to come that they have no logs.
      for (let tries = 1; ; tries++) {
        const [found, end] = await Promise.all([ask('eth_getLogs', [wanted]), header(to)])
        if (end) {
          // A node that answers nothing has not answered: `undefined` is what this says of a refusal.
          if (!found)
            throw new UnavailableError(`The node answers nothing to a question for logs up to block ${to}.`)
          receipts.answered(filter)
          return found
        }
        if (tries === TRIES_AT_HEAD)
          throw new UnavailableError(`The node was asked for logs up to block ${to} and does not have it.`)
        await sleep(HEAD_PAUSE)
      }
    } catch (error) {
      // A node that cannot be reached would not answer for fewer blocks either.
      if (!(error instanceof RpcRefusedError) || error.isGone) throw error
      if (from < to) return undefined
      if (!error.isAboutQuestion) throw error
      receipts.refused(filter)
      return receipts.read(from, filter)
    }
  }

  async function logs(filter: LogRange): Promise<BlockLogs[]> {
    const { most = Number.POSITIVE_INFINITY } = filter
    const blocks = new Map<number, BlockLogs>()
    let held = 0
    for (let from = filter.from; from <= filter.to; ) {
      const to = Math.min(filter.to, from + widest.now() - 1)
      const answer = await logsAtOnce(filter, from, to)
      if (answer === undefined) {
        widest.refused(to - from + 1)
        continue
      }
      const found = z.array(logSchema).parse(answer)
      for (const log of found) held += weightOf(log)
      if (held > most && filter.from < filter.to) {
        // The next answers are not to be as long.
        if (from < to) widest.refused(to - from + 1)
        throw new TooManyLogsError(filter, from > filter.from ? from - 1 : lastWithin(most, found, from))
      }
      for (const log of found) {
        const number = hexToNumber(log.blockNumber as `0x${string}`)
        const block = blocks.get(number) ?? { number, hash: log.blockHash.toLowerCase(), logs: [] }
        blocks.set(number, block)
        if (block.hash !== log.blockHash.toLowerCase())
          throw new UnavailableError(`The node's logs of block ${number} are of two branches.`)
        block.logs.push({
          address: log.address.toLowerCase(),
          topics: log.topics.map(topic => topic.toLowerCase()),
          data: beginningOf(log.data).toLowerCase(),
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

  const lost = openLostState({ head, header, hasState })

  async function answers(
    list: readonly StateCall[],
    block: BlockRef,
    gas?: number,
  ): Promise<BoundedAnswer[]> {
    if (list.length === 0) return []
    const at: BlockParameter = { blockHash: block.hash }
    if (lost.isLost(block.number)) throw new StateMissingError(`block ${block.number}`)
    try {
      const found = await strangers.read(list, at, gas)
      if (found.every(({ data, trouble }) => !data && !trouble)) await assertKept(block.number)
      return found
    } catch (error) {
      if (error instanceof StateMissingError) await lost.note(block, error)
      throw error
    }
  }

  async function calls(
    list: readonly StateCall[],
    block: BlockRef,
    onTrouble?: OnTrouble,
    gas?: number,
    onUsed?: OnUsed,
  ): Promise<(string | undefined)[]> {
    const found = await answers(list, block, gas)
    onUsed?.(found.map(({ gas: used = 0 }) => used))
    for (const [i, { trouble }] of found.entries()) if (trouble) onTrouble?.(list[i]?.to ?? '', trouble)
    return found.map(({ data }) => data)
  }

  async function hasState(height: number): Promise<boolean> {
    const block = await header(height)
    if (!block) throw new UnavailableError(`The node does not have block ${height}, below its head.`)
    try {
      await strangers.stand({ blockHash: block.hash })
      await assertKept(height)
      return true
    } catch (error) {
      if (error instanceof StateMissingError) return false
      throw error
    }
  }

  const reader = openContractReaders({ answers, head, deployment })

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
    if (contracts.length === 0 || lost.isLost(block.number)) return new Set()
    const at: BlockParameter = { blockHash: block.hash }
    // A node without that state would refuse each of them.
    try {
      await strangers.stand(at)
    } catch (error) {
      if (!(error instanceof StateMissingError)) throw error
      await lost.note(block, error)
      return new Set()
    }
    const found = await withCode(contracts, at)
    if (found.length < contracts.length && !(await isKept(block.number))) {
      await lost.note(block, saysNothing(block.number))
      return new Set()
    }
    return new Set(found)
  }

  async function codeAt(contracts: readonly string[], height: number): Promise<string[]> {
    const found = await withCode(contracts, numberToHex(height))
    if (found.length < contracts.length) await assertKept(height)
    return found
  }

  async function withCode(contracts: readonly string[], at: BlockParameter): Promise<string[]> {
    const found = await Promise.all(
      contracts.map(async contract => hex.parse(await ask('eth_getCode', [contract, at]))),
    )
    return contracts.filter((_, i) => found[i] !== '0x')
  }

  async function assertKept(height: number): Promise<void> {
    if (!(await isKept(height))) throw saysNothing(height)
  }

  async function deployment(
    contract: string,
    upTo: number,
  ): Promise<{ block: number; timestamp: number } | undefined> {
    const exists = async (height: number) => (await withCode([contract], numberToHex(height))).length > 0
    // A node without old states cannot tell: the block stays unknown (invariant 7). One that is out of reach may.
    if (lost.isAnyLost()) return undefined
    try {
      const heights = [upTo, ...AGES.map(blocks => upTo - blocks).filter(height => height >= 0)]
      const found = await Promise.allSettled(heights.map(exists))
      let absent = -1
      let present = upTo
      for (const [i, height] of heights.entries()) {
        const answer = found[i]
        // What is asked of blocks before it was made does not matter.
        if (answer?.status === 'rejected') throw answer.reason
        if (answer?.value) present = height
        else if (height === upTo) return undefined
        else {
          absent = height
          break
        }
      }
      while (present - absent > 1) {
        const between = cutsOf(absent, present)
        const found = await Promise.all(between.map(exists))
        const first = found.indexOf(true)
        const [below, from] = [between[(first < 0 ? between.length : first) - 1], between[first]]
        absent = below ?? absent
        present = from ?? present
      }
      if (absent >= 0 && !(await isKept(absent))) return undefined
      const block = await header(present)
      if (!block)
        throw new UnavailableError(`The node knows the state of block ${present}, and not the block.`)
      return { block: block.number, timestamp: block.timestamp }
    } catch (error) {
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
      if (!answer) return undefined
      const { hash, timestamp, logsBloom } = answer
      return {
        hash: hash.toLowerCase(),
        timestamp: hexToNumber(timestamp as `0x${string}`),
        mayHold: contract => mayHold(logsBloom, contract),
      }
    },
    calls,
    haveCode,
    codeAt,
    transactions,
    reader,
  }
}

/** The last block up to which there are no more logs than so many, the first one at least. */
function lastWithin(
  most: number,
  found: readonly { blockNumber: string; data: string }[],
  from: number,
): number {
  const ascending = found
    .map(log => ({ height: hexToNumber(log.blockNumber as `0x${string}`), weight: weightOf(log) }))
    .sort((a, b) => a.height - b.height)
  let held = 0
  const over = ascending.find(({ weight }) => {
    held += weight
    return held > most
  })
  return Math.max(from, (over?.height ?? from + 1) - 1)
}

/** Heights that cut what lies between two into four: half as many round trips as halves take, for half as many questions more. */
const cutsOf = (absent: number, present: number): number[] => [
  ...new Set(
    [1, 2, 3]
      .map(n => absent + Math.floor(((present - absent) * n) / 4))
      .filter(height => height > absent && height < present),
  ),
]

const saysNothing = (height: number) =>
  new StateMissingError(`block ${height}, and answers as of a chain without contracts`)

/** Logs in their block's order, each once: some nodes serve the seams of their ranges twice. */
export function eachOnce<T extends { logIndex: number }>(logs: T[]): T[] {
  if (logs.every(({ logIndex }, i) => logIndex > (logs[i - 1]?.logIndex ?? -1))) return logs
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
