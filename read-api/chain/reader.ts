import type { Hex } from 'viem'
import { findNetwork, isNetworkName, networks } from '../../db/networks.ts'
import { BlockReader } from './block-reader.ts'
import { ChainUnavailableError } from './errors.ts'
import { Lane, type ReadOptions } from './lane.ts'
import type { BlockMark, RawAnswer } from './multicall.ts'
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

export function createChainReader(options: ChainReaderOptions): ChainReader {
  const { windowMs = 4, batchSize = 200 } = options
  const rpc = createRpc(options)
  const lanes = new Map<string, Lane>()

  const laneOf = (network: string): Lane => {
    const known = lanes.get(network)
    if (known) return known
    const reader = new BlockReader(rpc, { name: network, chainId: chainIdOf(network) }, batchSize)
    const lane = new Lane(reader, { life: lifeOf(network), windowMs })
    lanes.set(network, lane)
    return lane
  }

  const lifeOf = (network: string): number => {
    const given = options.blockTime?.[network]
    if (given !== undefined || !isNetworkName(network)) return given ?? 0
    const { blockTime, shortestBlockTime = blockTime } = networks[network]
    return Math.floor(shortestBlockTime * 1_000)
  }

  return {
    rpc,
    chainId: chainIdOf,
    async read<const V extends Views>(network: string, views: V, readOptions: ReadOptions = {}) {
      // Without an endpoint there is nothing to wait for.
      if (!rpc.serves(network)) throw new ChainUnavailableError(network)
      const entries = Object.entries<View<unknown>>(views)
      const { block, answers } = await laneOf(network).read(
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

function decoded(decode: (answer: Hex) => unknown, answer: RawAnswer | undefined): unknown {
  // An account without code answers every call with success and nothing.
  if (!answer?.success || answer.data === '0x') return undefined
  try {
    return decode(answer.data)
  } catch {
    return undefined
  }
}
