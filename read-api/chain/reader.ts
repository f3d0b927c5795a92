import { LRUCache } from 'lru-cache'
import { type Hex, toHex } from 'viem'
import { RpcRefusedError, StateMissingError } from '../../db/chain/errors.ts'
import { openStrangerReader, type StrangerReader } from '../../db/chain/stranger-reader.ts'
import { findNetwork, isNetworkName, networks } from '../../db/networks.ts'
import { CallRejectedError, ChainUnavailableError } from './errors.ts'
import {
  type BlockMark,
  decodeBatch,
  encodeBatch,
  headOf,
  markOf,
  multicall3Address,
  type RawAnswer,
  type RawCall,
} from './multicall.ts'
import { createRpc, type Rpc, type RpcOptions } from './rpc.ts'
import type { Answers, View, Views } from './view.ts'

export interface ChainReaderOptions extends RpcOptions {
  /** Milliseconds between blocks by network; those of the table of networks unless given. */
  blockTime?: Readonly<Record<string, number>>
  /** Milliseconds for which concurrent callers are collected into one call. Default 4. */
  windowMs?: number
  /** Reads put into one eth_call at most. Nodes cap the gas of a call. Default 200. */
  batchSize?: number
}

export interface ReadOptions {
  /** 'cached': from a block seen at most one block time ago. 'fresh': from a block at least as new as this request. */
  age?: 'cached' | 'fresh'
  /** This block instead of the newest. */
  block?: bigint
}

export interface Reading<V extends Views> {
  /** The one block that all values are of. */
  block: BlockMark
  values: Answers<V>
}

/**
 * Reads contracts. All values of one `read` are of one block, and concurrent callers share calls: what they ask within
 * a few milliseconds goes out together, and what was read of a block is not read again while the block is young.
 * What a contract refuses is undefined; a block that cannot be read is a ChainUnavailableError.
 */
export interface ChainReader {
  read<const V extends Views>(network: string, views: V, options?: ReadOptions): Promise<Reading<V>>
  rpc: Rpc
  chainId(network: string): number
}

/** Calls for a new block that may be under way at once. */
const maxRunning = 4

interface Waiting {
  calls: readonly RawCall[]
  /** Wants the snapshot's block and no other. */
  pinned: boolean
  resolve(result: { block: BlockMark; answers: RawAnswer[] }): void
  reject(error: unknown): void
}

/** What has been read of one block. */
interface Snapshot {
  block: BlockMark
  /** When the call that found the block was sent. */
  startedAt: number
  answers: Map<string, RawAnswer>
}

interface Lane {
  chainId: number
  newest: Snapshot | undefined
  /** The last few, by block: for second reads of the same block. */
  recent: LRUCache<bigint, Snapshot>
  /** Callers of the open window: those who want a new block, and those who complete a known one. */
  fresh: Waiting[]
  timer: NodeJS.Timeout | undefined
  /** Calls for a new block that are under way; callers who take a young block wait for the newest of them. */
  running: Set<{ startedAt: number; done: Promise<void> }>
  completing: Map<Snapshot, Waiting[]>
}

export function createChainReader(options: ChainReaderOptions): ChainReader {
  const { windowMs = 4, batchSize = 200 } = options
  const rpc = createRpc(options)
  const lanes = new Map<string, Lane>()

  const laneOf = (network: string): Lane => {
    const known = lanes.get(network)
    if (known) return known
    const lane: Lane = {
      chainId: chainIdOf(network),
      newest: undefined,
      recent: new LRUCache({ max: 16 }),
      fresh: [],
      timer: undefined,
      running: new Set(),
      completing: new Map(),
    }
    lanes.set(network, lane)
    return lane
  }

  const lifeOf = (network: string): number => {
    const given = options.blockTime?.[network]
    if (given !== undefined || !isNetworkName(network)) return given ?? 0
    const { blockTime, shortestBlockTime = blockTime } = networks[network]
    return Math.floor(shortestBlockTime * 1_000)
  }

  const callBatch = async (network: string, calls: readonly RawCall[], block: Hex | 'latest') => {
    const { chainId } = laneOf(network)
    const answer = await rpc.request(network, 'eth_call', [
      { to: multicall3Address, data: encodeBatch(chainId, calls) },
      block,
    ])
    const batch = decodeOrUnavailable(network, answer)
    assertChain(network, batch.chainId)
    return batch
  }

  const strangers = new Map<string, StrangerReader>()
  const strangersOf = (network: string): StrangerReader => {
    const known = strangers.get(network) ?? openStrangerReader(rpc.ask(network))
    strangers.set(network, known)
    return known
  }

  /** Each read with bounded gas and a bounded answer, so that none is at the cost of another. */
  const callBounded = async (network: string, calls: readonly RawCall[], block: Hex | 'latest') => {
    const { chainId } = laneOf(network)
    const head = headOf(chainId)
    const first = await strangersOf(network).together([...head, ...calls], block)
    // A node that does not make calls together, or a block that it does not have.
    if (!first || first.length < head.length || !first[0]?.data) return undefined
    const mark = markOf(first.slice(0, head.length).map(({ data }) => data))
    assertChain(network, mark.chainId)
    const answers = first.slice(head.length)
    if (answers.length < calls.length) {
      const rest = await strangersOf(network).read(calls.slice(answers.length), toHex(mark.block.number))
      answers.push(...rest)
    }
    return {
      block: mark.block,
      answers: answers.map(({ data }): RawAnswer => ({ success: data !== undefined, data: data ?? '0x' })),
    }
  }

  const callAtOnce = async (network: string, calls: readonly RawCall[], block: Hex | 'latest') => {
    try {
      const bounded = await rpc.inTime(network, () => callBounded(network, calls, block))
      return bounded ?? (await callDividing(network, calls, block))
    } catch (error) {
      if (error instanceof RpcRefusedError || error instanceof StateMissingError)
        throw new ChainUnavailableError(network, { cause: error })
      throw error
    }
  }

  const assertChain = (network: string, found: number) => {
    const { chainId } = laneOf(network)
    if (found === chainId) return
    throw new ChainUnavailableError(network, {
      cause: new CallRejectedError(`the endpoint serves chain ${found}, not ${chainId}`, undefined),
    })
  }

  /** A batch that the node refuses as a whole (its gas, its size) is halved, down to the read at fault. */
  const callDividing = async (
    network: string,
    calls: readonly RawCall[],
    block: Hex | 'latest',
  ): Promise<{ block: BlockMark; answers: RawAnswer[] }> => {
    try {
      return await callBatch(network, calls, block)
    } catch (error) {
      if (!(error instanceof CallRejectedError)) throw error
      // Nothing but the block itself was asked for: the node does not have it, and some say -32602 to that.
      if (calls.length === 0) throw new ChainUnavailableError(network, { cause: error })
      if (calls.length === 1) {
        const none = await callDividing(network, [], block)
        return { block: none.block, answers: [{ success: false, data: error.data ?? '0x' }] }
      }
      const half = calls.length >> 1
      const first = await callDividing(network, calls.slice(0, half), block)
      const second = await callDividing(network, calls.slice(half), toHex(first.block.number))
      return { block: first.block, answers: [...first.answers, ...second.answers] }
    }
  }

  /** Any number of reads at one block: in parallel, and again where a part fell on another block than the first. */
  const callAll = async (network: string, calls: readonly RawCall[], block: Hex | 'latest') => {
    const parts: RawCall[][] = []
    for (let at = 0; at < Math.max(calls.length, 1); at += batchSize)
      parts.push(calls.slice(at, at + batchSize))
    const results = await Promise.all(parts.map(part => callAtOnce(network, part, block)))
    const mark = results[0]?.block
    if (!mark) throw new ChainUnavailableError(network)
    const answers = await Promise.all(
      results.map(async (result, n) =>
        result.block.number === mark.number
          ? result.answers
          : (await callAtOnce(network, parts[n] ?? [], toHex(mark.number))).answers,
      ),
    )
    return { block: mark, answers: answers.flat() }
  }

  const flush = async (network: string, lane: Lane, waiting: Waiting[], onto: Snapshot | undefined) => {
    const startedAt = Date.now()
    const wanted = new Map<string, RawCall>()
    for (const { calls } of waiting) {
      for (const call of calls) {
        const key = keyOf(call)
        if (!onto?.answers.has(key)) wanted.set(key, call)
      }
    }
    try {
      const keys = [...wanted.keys()]
      const tag = onto ? toHex(onto.block.number) : 'latest'
      const { block, answers } = await callAll(network, [...wanted.values()], tag)
      const snapshot: Snapshot = onto ?? { block, startedAt, answers: new Map() }
      for (const [n, key] of keys.entries()) {
        const answer = answers[n]
        if (answer) snapshot.answers.set(key, answer)
      }
      if (!onto) lane.recent.set(block.number, snapshot)
      // A node that lags behind may give an older block: never go back to it.
      if (!onto && (!lane.newest || block.number >= lane.newest.block.number)) lane.newest = snapshot
      for (const one of waiting) one.resolve(pick(snapshot, one.calls))
    } catch (error) {
      // A node that does not have the block of a snapshot yet, or any more: begin anew.
      if (onto) {
        if (lane.newest === onto) lane.newest = undefined
        lane.recent.delete(onto.block.number)
        for (const one of waiting) {
          if (one.pinned) one.reject(error)
          else enqueueFresh(network, lane, one)
        }
      } else {
        for (const one of waiting) one.reject(error)
      }
    }
  }

  const enqueueFresh = (network: string, lane: Lane, one: Waiting) => {
    lane.fresh.push(one)
    openWindow(network, lane)
  }

  const openWindow = (network: string, lane: Lane) => {
    // With so many calls under way, later callers gather until one of them has come back.
    if (lane.running.size >= maxRunning) return
    lane.timer ??= setTimeout(() => {
      const waiting = lane.fresh
      lane.fresh = []
      lane.timer = undefined
      const run = { startedAt: Date.now(), done: Promise.resolve() }
      run.done = flush(network, lane, waiting, undefined).finally(() => {
        lane.running.delete(run)
        if (lane.fresh.length > 0) openWindow(network, lane)
      })
      lane.running.add(run)
    }, windowMs)
  }

  const enqueueOnto = (network: string, lane: Lane, snapshot: Snapshot, one: Waiting) => {
    const queue = lane.completing.get(snapshot)
    if (queue) {
      queue.push(one)
      return
    }
    lane.completing.set(snapshot, [one])
    setTimeout(() => {
      const waiting = lane.completing.get(snapshot) ?? []
      lane.completing.delete(snapshot)
      void flush(network, lane, waiting, snapshot)
    }, windowMs)
  }

  const readRaw = (network: string, calls: readonly RawCall[], { age = 'cached', block }: ReadOptions) => {
    const lane = laneOf(network)
    if (block !== undefined) {
      const known = lane.recent.get(block)
      if (!known) return callAll(network, calls, toHex(block))
      return new Promise<{ block: BlockMark; answers: RawAnswer[] }>((resolve, reject) => {
        enqueueOnto(network, lane, known, { calls, pinned: true, resolve, reject })
      })
    }
    if (age === 'cached' && !isYoung(network, lane.newest)) {
      const soon = [...lane.running].findLast(run => Date.now() - run.startedAt < lifeOf(network))
      if (soon) return soon.done.then(() => enqueue(network, lane, calls, age))
    }
    return enqueue(network, lane, calls, age)
  }

  const isYoung = (network: string, snapshot: Snapshot | undefined): snapshot is Snapshot =>
    snapshot !== undefined && Date.now() - snapshot.startedAt < lifeOf(network)

  const enqueue = (network: string, lane: Lane, calls: readonly RawCall[], age: 'cached' | 'fresh') =>
    new Promise<{ block: BlockMark; answers: RawAnswer[] }>((resolve, reject) => {
      const one: Waiting = { calls, pinned: false, resolve, reject }
      const { newest } = lane
      if (age === 'cached' && isYoung(network, newest)) {
        if (calls.every(call => newest.answers.has(keyOf(call)))) resolve(pick(newest, calls))
        else enqueueOnto(network, lane, newest, one)
        return
      }
      enqueueFresh(network, lane, one)
    })

  return {
    rpc,
    chainId: chainIdOf,
    async read<const V extends Views>(network: string, views: V, readOptions: ReadOptions = {}) {
      // Nobody to wait for.
      if (!rpc.serves(network)) throw new ChainUnavailableError(network)
      const entries = Object.entries<View<unknown>>(views)
      const { block, answers } = await readRaw(
        network,
        entries.map(([, { to, data }]) => ({ to, data })),
        readOptions,
      )
      const values = Object.fromEntries(
        entries.map(([name, { decode }], n) => [name, decoded(decode, answers[n])] as const),
      )
      return { block, values: values as Answers<V> }
    },
  }
}

function chainIdOf(network: string): number {
  const known = findNetwork(network)
  if (!known) throw new ChainUnavailableError(network)
  return known.chainId
}

const keyOf = (call: RawCall): string => `${call.to.toLowerCase()}${call.data}`

function pick(snapshot: Snapshot, calls: readonly RawCall[]): { block: BlockMark; answers: RawAnswer[] } {
  const missing: RawAnswer = { success: false, data: '0x' }
  return {
    block: snapshot.block,
    answers: calls.map(call => snapshot.answers.get(keyOf(call)) ?? missing),
  }
}

function decoded(decode: (answer: Hex) => unknown, answer: RawAnswer | undefined): unknown {
  // An account without code answers every call with success and nothing.
  if (!answer?.success || answer.data === '0x') return undefined
  try {
    return decode(answer.data)
  } catch {
    return undefined
  }
}

function decodeOrUnavailable(network: string, answer: unknown) {
  try {
    return decodeBatch(answer as Hex)
  } catch (cause) {
    throw new ChainUnavailableError(network, { cause })
  }
}
