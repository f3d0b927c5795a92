import { DataSourceBuilder, type SolanaRpcClient } from '@subsquid/solana-stream'
import { z } from 'zod'
import { toBase58 } from '../../db/base58.ts'
import type { Ask } from '../../db/chain/failover.ts'
import { UnavailableError, VaultlogError } from '../../db/process/errors.ts'
import type { SvmBlock } from './block.ts'
import type { SvmSource, Wanted } from './source.ts'
import { blockOf, FIELDS } from './sqd-block.ts'

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
const keys = z.array(z.string())
const mints = z.array(z.looseObject({ mint: z.string() })).nullish()
/** Of transactions that do not concern us no more than this is read: they are nearly all. */
const transaction = z.looseObject({
  transaction: z.looseObject({ message: z.looseObject({ accountKeys: keys }) }),
  meta: z
    .looseObject({
      err: z.unknown(),
      loadedAddresses: z.object({ writable: keys, readonly: keys }).nullish(),
      preTokenBalances: mints,
      postTokenBalances: mints,
    })
    .nullable(),
})
const answer = z.looseObject({
  blockhash: z.string(),
  previousBlockhash: z.string(),
  parentSlot: z.number().int(),
  transactions: z.array(transaction),
})
type Answer = z.infer<typeof answer>

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

/** Whole blocks of a node, read by `@subsquid/solana-stream`. */
export function openRpcSource(ask: Ask): SvmSource {
  /** Of the last slice: it is asked for once more where it tells what else is wanted. */
  let kept = new Map<number, Answer>()
  const blockAt = async (each: number) =>
    kept.get(each) ??
    answer.parse(await ask('getBlock', [each, FULL], { maxBytes: MOST_BYTES, isExact: true }))
  return {
    isFiltered: false,
    head: async () => slot.parse(await ask('getSlot', [FINAL])),
    async read(from, to, wanted) {
      const slots = await nextSlots(ask, from, to)
      const [first] = slots
      if (first === undefined) return undefined
      const answers = await Promise.all(slots.map(blockAt))
      kept = new Map(answers.map((answer, i) => [slots[i] ?? 0, answer]))
      // The blocks between are none that were never made: this one stands on one of them.
      if ((answers[0]?.parentSlot ?? 0) >= from) await throwUnlessThere(ask, from, first)
      for (const [i, { previousBlockhash }] of answers.entries())
        if (i > 0 && previousBlockhash !== answers[i - 1]?.blockhash)
          throw new UnavailableError(
            `The node says that slot ${slots[i]} stands on ${previousBlockhash}, and that slot ${slots[i - 1]} is ${answers[i - 1]?.blockhash}.`,
          )
      const blocks = await streamed(kept, wanted)
      const last = blocks.at(-1)
      return last && { blocks, end: { slot: last.slot, hash: last.hash, time: last.time } }
    },
  }
}

const fields = {
  ...FIELDS,
  block: { slot: true, timestamp: true },
  // Given unless they are refused.
  tokenBalance: { ...FIELDS.tokenBalance, preDecimals: false, postDecimals: false },
} as const

/** What is wanted of blocks, in their order. */
async function streamed(answers: ReadonlyMap<number, Answer>, wanted: Wanted): Promise<SvmBlock[]> {
  const { programs, acts, mints } = wanted
  const named = [...programs, ...acts.map(({ program }) => program), ...mints].map(key => toBase58(key))
  const isMeant = concerns(new Set(named))
  const builder = new DataSourceBuilder()
    .setRpc({ client: nodeOf(answers, isMeant), strideSize: SLICE })
    .setFields(fields)
    .setBlockRange({ from: 1, to: answers.size })
    .includeAllBlocks()
  const whole = { transaction: true, transactionInstructions: true }
  builder.addInstruction({
    where: { programId: programs.map(key => toBase58(key)), isCommitted: true },
    include: { ...whole, transactionTokenBalances: true, logs: true },
  })
  for (const { program, discriminator } of acts)
    builder.addInstruction({
      where: { programId: [toBase58(program)], d8: [`0x${discriminator}`], isCommitted: true },
      include: whole,
    })
  const shares = mints.map(key => toBase58(key))
  if (shares.length > 0)
    builder
      .addTokenBalance({ where: { preMint: shares }, include: whole })
      .addTokenBalance({ where: { postMint: shares }, include: whole })
  const blocks: SvmBlock[] = []
  try {
    for await (const batch of builder.build().getBlockStream())
      for (const { header, ...items } of batch)
        blocks.push(
          blockOf(
            { header: { ...header, number: header.slot, timestamp: header.timestamp || null }, ...items },
            blocks.at(-1)?.time ?? 0,
          ),
        )
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof VaultlogError) throw error
    throw new UnavailableError(`The node's blocks cannot be read: ${String(error)}`, { cause: error })
  }
  return blocks
}

/**
 * These blocks as a node that has no others. The package goes by heights, which old blocks do not say, looks for one with a dozen of
 * requests from the head on, and knows one node; so ours are asked for the blocks, here they are counted from one, and the first one is
 * the head.
 */
function nodeOf(
  answers: ReadonlyMap<number, Answer>,
  isMeant: (of: Answer['transactions'][number]) => boolean,
): SolanaRpcClient {
  const slots = [...answers.keys()]
  const blocks = new Map(
    [...answers].map(([at, { transactions, ...block }], i) => [
      at,
      {
        ...block,
        blockHeight: i + 1,
        transactions: transactions.flatMap((each, _index) => (isMeant(each) ? [{ ...each, _index }] : [])),
      },
    ]),
  )
  type Checked = Parameters<SolanaRpcClient['batchCall']>[1]
  const said = (method: string, params: readonly unknown[] = []): unknown => {
    const [at = 0, limit = 0] = params as readonly number[]
    if (method === 'getBlock') return blocks.get(at)
    if (method === 'getLatestBlockhash') return { context: { slot: slots[0] } }
    if (method === 'getBlocksWithLimit') return slots.filter(each => each >= at).slice(0, limit)
    throw new TypeError(`${method} is no part of reading blocks`)
  }
  const node: Pick<SolanaRpcClient, 'call' | 'batchCall' | 'isConnectionError'> = {
    call: async (method, params) => said(method, params) as never,
    batchCall: async (calls, { validateResult }: Checked = {}) =>
      calls.map(({ method, params, ...call }) => {
        const result = said(method, params)
        // Undefined is what the package takes for a slot without a block.
        return result && validateResult
          ? validateResult(result, { ...call, id: 0, jsonrpc: '2.0', method, params })
          : result
      }) as never,
    isConnectionError: () => false,
  }
  return node as SolanaRpcClient
}

/** Whether a transaction was carried out and names one of these. A token balance names its mint, which need not be among the accounts. */
const concerns =
  (named: ReadonlySet<string>) =>
  ({ transaction, meta }: Answer['transactions'][number]): boolean => {
    if (!meta || meta.err !== null) return false
    const { loadedAddresses, preTokenBalances, postTokenBalances } = meta
    return (
      [transaction.message.accountKeys, loadedAddresses?.writable, loadedAddresses?.readonly].some(list =>
        list?.some(key => named.has(key)),
      ) || [preTokenBalances, postTokenBalances].some(list => list?.some(({ mint }) => named.has(mint)))
    )
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
