import { type Hex, toHex } from 'viem'
import { RpcRefusedError, StateMissingError } from '../../db/chain/errors.ts'
import { openStrangerReader, type StrangerReader } from '../../db/chain/stranger-reader.ts'
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
import type { Rpc } from './rpc.ts'

/** Answers to calls, all of one block. */
export interface BlockAnswers {
  block: BlockMark
  answers: RawAnswer[]
}

/** Calls of one network, as many as may be, at one block. */
export class BlockReader {
  readonly #rpc: Rpc
  readonly #network: string
  readonly #chainId: number
  readonly #batchSize: number
  readonly #strangers: StrangerReader

  constructor(rpc: Rpc, network: { name: string; chainId: number }, batchSize: number) {
    this.#rpc = rpc
    this.#network = network.name
    this.#chainId = network.chainId
    this.#batchSize = batchSize
    this.#strangers = openStrangerReader(rpc.ask(network.name))
  }

  /** Any number of reads at one block: in parallel, and again where a part fell on another block than the first. */
  async read(calls: readonly RawCall[], block: Hex | 'latest'): Promise<BlockAnswers> {
    const parts: RawCall[][] = []
    for (let at = 0; at < Math.max(calls.length, 1); at += this.#batchSize)
      parts.push(calls.slice(at, at + this.#batchSize))
    const results = await Promise.all(parts.map(part => this.#callAtOnce(part, block)))
    const mark = results[0]?.block
    if (!mark) throw new ChainUnavailableError(this.#network)
    const answers = await Promise.all(
      results.map(async (result, n) =>
        result.block.number === mark.number
          ? result.answers
          : (await this.#callAtOnce(parts[n] ?? [], toHex(mark.number))).answers,
      ),
    )
    return { block: mark, answers: answers.flat() }
  }

  async #callAtOnce(calls: readonly RawCall[], block: Hex | 'latest'): Promise<BlockAnswers> {
    try {
      const bounded = await this.#rpc.inTime(this.#network, () => this.#callBounded(calls, block))
      return bounded ?? (await this.#callDividing(calls, block))
    } catch (error) {
      if (error instanceof RpcRefusedError || error instanceof StateMissingError)
        throw new ChainUnavailableError(this.#network, { cause: error })
      throw error
    }
  }

  /** Each read with bounded gas and a bounded answer, so that none is at the cost of another. */
  async #callBounded(calls: readonly RawCall[], block: Hex | 'latest') {
    const head = headOf(this.#chainId)
    const first = await this.#strangers.together([...head, ...calls], block)
    // A node that does not make calls together, or a block that it does not have.
    if (!first || first.length < head.length || !first[0]?.data) return undefined
    const mark = markOf(first.slice(0, head.length).map(({ data }) => data))
    this.#assertChain(mark.chainId)
    const answers = first.slice(head.length)
    if (answers.length < calls.length) {
      const rest = await this.#strangers.read(calls.slice(answers.length), toHex(mark.block.number))
      answers.push(...rest)
    }
    return {
      block: mark.block,
      answers: answers.map(({ data }): RawAnswer => ({ success: data !== undefined, data: data ?? '0x' })),
    }
  }

  /** A batch that the node refuses as a whole (its gas, its size) is halved, down to the read at fault. */
  async #callDividing(calls: readonly RawCall[], block: Hex | 'latest'): Promise<BlockAnswers> {
    try {
      return await this.#callBatch(calls, block)
    } catch (error) {
      if (!(error instanceof CallRejectedError)) throw error
      // Nothing but the block itself was asked for: the node does not have it, and some say -32602 to that.
      if (calls.length === 0) throw new ChainUnavailableError(this.#network, { cause: error })
      if (calls.length === 1) {
        const none = await this.#callDividing([], block)
        return { block: none.block, answers: [{ success: false, data: error.data ?? '0x' }] }
      }
      const half = calls.length >> 1
      const first = await this.#callDividing(calls.slice(0, half), block)
      const second = await this.#callDividing(calls.slice(half), toHex(first.block.number))
      return { block: first.block, answers: [...first.answers, ...second.answers] }
    }
  }

  async #callBatch(calls: readonly RawCall[], block: Hex | 'latest') {
    const answer = await this.#rpc.request(this.#network, 'eth_call', [
      { to: multicall3Address, data: encodeBatch(this.#chainId, calls) },
      block,
    ])
    const batch = this.#decode(answer)
    this.#assertChain(batch.chainId)
    return batch
  }

  #decode(answer: unknown) {
    try {
      return decodeBatch(answer as Hex)
    } catch (cause) {
      throw new ChainUnavailableError(this.#network, { cause })
    }
  }

  #assertChain(found: number) {
    if (found === this.#chainId) return
    throw new ChainUnavailableError(this.#network, {
      cause: new CallRejectedError(`the endpoint serves chain ${found}, not ${this.#chainId}`, undefined),
    })
  }
}
