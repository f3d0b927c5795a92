import { hexToBigInt, numberToHex } from 'viem'
import { z } from 'zod'
import { RpcRefusedError, StateMissingError } from '../../db/chain/errors.ts'
import type { Ask } from '../../db/chain/failover.ts'
import { steadyNow } from '../../db/process/steady.ts'

const hex = z
  .string()
  .regex(/^0x[0-9a-fA-F]+$/)
  .transform(text => hexToBigInt(text as `0x${string}`))
const sentSchema = z.object({ from: z.string(), nonce: hex, type: hex.optional() }).nullable()

/** Blocks, and transactions of each, that are looked through for a witness. */
const BLOCKS = 5
const TRANSACTIONS = 3
/** Kinds of transactions whose sender's nonce grows with them: legacy and EIP-2930, 1559, 4844, 7702. Rollups have others. */
const ORDINARY = 4n
/** Milliseconds for which a block whose state was there is believed to have it. */
const BELIEVED = 60_000

export interface KeptState {
  isKept(height: number): Promise<boolean>
  /** @throws StateMissingError */
  assertKept(height: number): Promise<void>
}

/**
 * Tells whether a node has the state of a block, where it would say "no code" either way: older Erigon answers of state
 * that it dropped as of a chain on which nobody ever was, without an error. The witness is somebody who sent a transaction
 * of that block or soon after it: no account that has sent one has the nonce 0 there and another one now. What no witness
 * is found for is believed to be there.
 */
export function openKeptState(ask: Ask): KeptState {
  let kept = { from: Number.POSITIVE_INFINITY, at: 0 }

  /** undefined where the node does not say. */
  async function said<T>(schema: z.ZodType<T>, method: string, params: unknown[]): Promise<T | undefined> {
    try {
      return schema.parse(await ask(method, params))
    } catch (error) {
      if (error instanceof RpcRefusedError && !error.isGone) return undefined
      throw error
    }
  }

  /** undefined where no witness is found. */
  async function witnessed(height: number): Promise<boolean | undefined> {
    for (let index = 0; index < TRANSACTIONS; index++) {
      const place = [numberToHex(height), numberToHex(index)]
      const sent = await said(sentSchema, 'eth_getTransactionByBlockNumberAndIndex', place)
      if (!sent) return undefined
      if (sent.nonce === 0n || (sent.type ?? 0n) > ORDINARY) continue
      const [then, now] = await Promise.all([
        said(hex, 'eth_getTransactionCount', [sent.from, numberToHex(height)]),
        said(hex, 'eth_getTransactionCount', [sent.from, 'latest']),
      ])
      if (then !== undefined && then > 0n) return true
      if (then === 0n && now !== undefined && now > 0n) return false
    }
    return undefined
  }

  async function isKept(height: number): Promise<boolean> {
    if (height >= kept.from && steadyNow() - kept.at < BELIEVED) return true
    for (let next = height; next < height + BLOCKS; next++) {
      const isThere = await witnessed(next)
      if (isThere) kept = { from: height, at: steadyNow() }
      if (isThere !== undefined) return isThere
    }
    return true
  }

  return {
    isKept,
    async assertKept(height) {
      if (!(await isKept(height)))
        throw new StateMissingError(`block ${height}, and answers as of a chain without contracts`)
    },
  }
}
