import { z } from 'zod'
import type { Key } from '../../abi/svm/programs.ts'
import { toBase58 } from '../../db/base58.ts'
import type { Ask } from '../../db/chain/failover.ts'
import { UnavailableError, VaultlogError } from '../../db/process/errors.ts'
import type { SvmBlock } from './block.ts'
import { blockOf } from './rpc-block.ts'
import type { SvmSource } from './source.ts'

const FINAL = { commitment: 'finalized' }
const FULL = {
  ...FINAL,
  encoding: 'json',
  transactionDetails: 'full',
  maxSupportedTransactionVersion: 0,
  rewards: false,
}
/** Slots of one slice. */
const SLICE = 10
/** Slots that are looked through for a block at once: getBlocks takes 500,000. */
const SEARCH = 100_000
/** No block is larger. */
const MOST_BYTES = 100 * 1024 * 1024

const slot = z.number().int().nonnegative()
const parent = z.object({ parentSlot: z.number().int() })

/** The node keeps no blocks that are as old as what is wanted. */
export class PrunedError extends VaultlogError {
  readonly code = 'PRUNED'
  constructor(from: number, first: number, oldest: number) {
    super(
      `The node behind RPC_SOLANA keeps blocks from slot ${oldest} on, and slot ${from} is where to go on: it says nothing of the blocks before slot ${first}. ` +
        'Nothing was skipped. Set PORTAL_SOLANA (sqd for the public one), which has all of them, or a node that keeps more.',
    )
  }
}

/** Whole blocks of a node. */
export function openRpcSource(ask: Ask): SvmSource {
  /** Of the last slice: it is asked for once more where it tells what else is wanted. */
  let kept = new Map<number, unknown>()
  return {
    isFiltered: false,
    head: async () => slot.parse(await ask('getSlot', [FINAL])),
    async read(from, to, { programs, acts, mints }) {
      const slots = await nextSlots(ask, from, to)
      if (slots.length === 0) return undefined
      const meant = new Set(
        [...programs, ...acts.map(({ program }) => program), ...mints].map((key: Key) => toBase58(key)),
      )
      const answers = await Promise.all(
        slots.map(each => kept.get(each) ?? ask('getBlock', [each, FULL], { maxBytes: MOST_BYTES })),
      )
      kept = new Map(slots.map((each, i) => [each, answers[i]]))
      const [first = from] = slots
      // The blocks between are none that were never made: this one stands on one of them.
      if (parent.parse(answers[0]).parentSlot >= from) await throwUnlessThere(ask, from, first)
      const blocks: SvmBlock[] = []
      for (const [i, answer] of answers.entries()) {
        const read = blockOf(slots[i] ?? 0, answer, key => meant.has(key), blocks.at(-1)?.time ?? 0)
        const before = blocks.at(-1)
        if (before && read.parentHash !== before.hash)
          throw new UnavailableError(
            `The node says that slot ${read.slot} stands on ${read.parentHash}, and that slot ${before.slot} is ${before.hash}.`,
          )
        blocks.push(read)
      }
      const last = blocks.at(-1)
      return last && { blocks, end: { slot: last.slot, hash: last.hash, time: last.time } }
    },
  }
}

/** The node has none of the blocks from `from` to `first`, or of several nodes one had not come as far yet. */
async function throwUnlessThere(ask: Ask, from: number, first: number): Promise<never> {
  const oldest = slot.parse(await ask('getFirstAvailableBlock', []))
  if (oldest > from) throw new PrunedError(from, first, oldest)
  throw new UnavailableError(
    `The node says nothing of the blocks from slot ${from} to ${first}, though it keeps them: asking again.`,
  )
}

/** The first of from..to that have a block: some of them follow, or after a long standstill they are looked for. */
async function nextSlots(ask: Ask, from: number, to: number): Promise<number[]> {
  const near = await slotsOf(ask, from, Math.min(to, from + SLICE - 1))
  if (near.length > 0) return near
  for (let start = from + SLICE; start <= to; start += SEARCH) {
    const found = await slotsOf(ask, start, Math.min(to, start + SEARCH - 1))
    if (found.length > 0) return found.slice(0, SLICE)
  }
  return []
}

async function slotsOf(ask: Ask, from: number, to: number): Promise<number[]> {
  return z.array(slot).parse(await ask('getBlocks', [from, to, FINAL]))
}
