import { hexToBytes, keccak256, numberToHex } from 'viem'
import { z } from 'zod'
import type { AskOptions } from '../../db/chain/endpoint.ts'
import type { Ask } from '../../db/chain/failover.ts'
import type { BlockRef } from '../../db/events/event-store.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import { hex, quantity } from './rpc-values.ts'

const headerSchema = z.object({ number: hex, hash: hex, parentHash: hex, timestamp: quantity }).nullable()
const bloomSchema = z.object({ hash: hex, timestamp: quantity, logsBloom: hex.length(514) }).nullable()

/** A block as its header has it. */
export interface ChainHeader extends BlockRef {
  parentHash: string
}

export interface BlockBloom {
  hash: string
  timestamp: number
  mayHold(contract: string): boolean
}

export interface RpcHeaders {
  head(): Promise<BlockRef>
  /** undefined when the node does not have the block. */
  header(height: number, options?: AskOptions): Promise<ChainHeader | undefined>
  /** A block's header, with whether a contract may have logs in it; undefined when the node does not have the block. */
  bloom(height: number): Promise<BlockBloom | undefined>
}

export function openRpcHeaders(ask: Ask): RpcHeaders {
  const blockAt = (height: number, options?: AskOptions) =>
    ask('eth_getBlockByNumber', [numberToHex(height), false], options)

  async function header(height: number, options?: AskOptions): Promise<ChainHeader | undefined> {
    const answer = headerSchema.parse(await blockAt(height, options))
    if (!answer) return undefined
    return {
      number: height,
      hash: answer.hash.toLowerCase(),
      parentHash: answer.parentHash.toLowerCase(),
      timestamp: answer.timestamp,
    }
  }

  return {
    header,
    async head() {
      const height = quantity.parse(await ask('eth_blockNumber', []))
      const block = await header(height)
      if (!block)
        throw new UnavailableError(`The node names block ${height} as its head and does not have it.`)
      return block
    },
    async bloom(height) {
      const answer = bloomSchema.parse(await blockAt(height))
      if (!answer) return undefined
      const { hash, timestamp, logsBloom } = answer
      return { hash: hash.toLowerCase(), timestamp, mayHold: contract => mayHold(logsBloom, contract) }
    },
  }
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
