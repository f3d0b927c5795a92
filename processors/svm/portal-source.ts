import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Key } from '../../abi/svm/programs.ts'
import { fromBase58, hexOfBase58, toBase58 } from '../../db/base58.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import type { SvmBlock, SvmTransaction, TokenBalance } from './block.ts'
import type { SvmSource, Wanted } from './source.ts'

/** Attempts of a request that is refused for its pace, or not answered. */
const ATTEMPTS = 5
const LONGEST_PAUSE = 30_000
const TIMEOUT = 60_000
/** Of one slice; a longer answer is taken up to here, and the rest asked for later. */
const MOST_BLOCKS = 2_000
const MOST_BYTES = 64 * 1024 * 1024

const key = z.string().transform((text, context) => {
  const hex = fromBase58(text)
  if (hex) return hex as Key
  context.addIssue({ code: 'custom', message: 'no 32 bytes of base58' })
  return z.NEVER
})
const place = z.number().int().nonnegative()
const amount = z.union([z.string().regex(/^\d{1,20}$/), z.number().int().nonnegative()])
const instruction = z.object({
  transactionIndex: place,
  instructionAddress: z.array(place).min(1),
  programId: key,
  accounts: z.array(key),
  data: z.string(),
})
const tokenBalance = z.object({
  transactionIndex: place,
  account: key,
  preMint: key.nullish(),
  postMint: key.nullish(),
  preOwner: key.nullish(),
  postOwner: key.nullish(),
  preAmount: amount.nullish(),
  postAmount: amount.nullish(),
})
const transaction = z.object({
  transactionIndex: place,
  signatures: z.array(z.string()).min(1),
  err: z.unknown(),
})
const block = z.object({
  header: z.object({
    number: place,
    hash: key,
    parentHash: key.nullish(),
    timestamp: z.number().int().nonnegative().nullish(),
  }),
  transactions: z.array(transaction).default([]),
  instructions: z.array(instruction).default([]),
  tokenBalances: z.array(tokenBalance).default([]),
})
type PortalBlock = z.infer<typeof block>

/** Blocks of a Portal of SQD's protocol, with no more in them than is wanted. */
export function openPortalSource(url: string): SvmSource {
  const at = (path: string) => `${url.replace(/\/$/, '')}/${path}`
  return {
    isFiltered: true,
    async head() {
      const response = await ask(at('finalized-head'))
      return z.object({ number: place }).parse(await response.json()).number
    },
    async read(from, to, wanted) {
      const query = JSON.stringify(queryOf(from, to, wanted))
      const response = await ask(at('finalized-stream'), query)
      if (response.status === 204) return undefined
      const blocks: SvmBlock[] = []
      for await (const line of linesOf(response)) {
        blocks.push(blockOf(block.parse(JSON.parse(line)), blocks.at(-1)?.time ?? 0))
        if (blocks.length === MOST_BLOCKS) break
      }
      const last = blocks.at(-1)
      return last && { blocks, end: { slot: last.slot, hash: last.hash, time: last.time } }
    },
  }
}

function queryOf(fromBlock: number, toBlock: number, { programs, mints }: Wanted): unknown {
  const [ids, shares] = [programs, mints].map(list => list.map(one => toBase58(one))) as [string[], string[]]
  const relations = { transaction: true }
  return {
    type: 'solana',
    fromBlock,
    toBlock,
    fields: {
      block: { number: true, hash: true, parentHash: true, timestamp: true },
      transaction: { transactionIndex: true, signatures: true, err: true },
      instruction: {
        transactionIndex: true,
        instructionAddress: true,
        programId: true,
        accounts: true,
        data: true,
      },
      tokenBalance: {
        transactionIndex: true,
        account: true,
        preMint: true,
        postMint: true,
        preOwner: true,
        postOwner: true,
        preAmount: true,
        postAmount: true,
      },
    },
    instructions: [
      {
        programId: ids,
        isCommitted: true,
        ...relations,
        transactionInstructions: true,
        transactionTokenBalances: true,
      },
    ],
    ...(shares.length > 0 && {
      tokenBalances: [
        { preMint: shares, ...relations, transactionInstructions: true },
        { postMint: shares, ...relations, transactionInstructions: true },
      ],
    }),
  }
}

/** @throws UnavailableError */
async function ask(url: string, body?: string): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const asked = fetch(url, {
      ...(body && { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
      signal: AbortSignal.timeout(TIMEOUT),
    })
    const response = await asked.catch((error: Error) => error)
    if (response instanceof Response && response.ok) return response
    const isLater = response instanceof Error || [429, 502, 503, 504].includes(response.status)
    if (!isLater || attempt === ATTEMPTS) {
      const said =
        response instanceof Error
          ? response.message
          : `${response.status} ${(await response.text()).slice(0, 200)}`
      throw new UnavailableError(`The Portal of Solana does not answer: ${said}`)
    }
    const wish = response instanceof Error ? Number.NaN : Number(response.headers.get('retry-after') ?? 'x')
    const pause = Number.isFinite(wish) ? wish * 1000 : 250 * 2 ** attempt
    await sleep(Math.min(LONGEST_PAUSE, pause))
  }
}

/** Whole lines: one that the connection broke off in is none, and what came before it stands. */
async function* linesOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let size = 0
  if (!response.body) return
  try {
    for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
      size += part.length
      rest += decoder.decode(part, { stream: true })
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.trim() !== '') yield line
      if (size > MOST_BYTES) return
      if (rest.length > MOST_BYTES)
        throw new UnavailableError('The Portal of Solana sent a block that is too large.')
    }
  } catch (error) {
    if (error instanceof UnavailableError) throw error
    return
  }
  if (rest.trim() !== '') yield rest
}

function blockOf(
  { header, transactions, instructions, tokenBalances }: PortalBlock,
  before: number,
): SvmBlock {
  const balances = groupBy(tokenBalances)
  const acts = groupBy(instructions)
  return {
    slot: header.number,
    hash: header.hash,
    parentHash: header.parentHash ?? '',
    time: header.timestamp ?? before,
    transactions: transactions
      .filter(({ err }) => err === null || err === undefined)
      .sort((a, b) => a.transactionIndex - b.transactionIndex)
      .map(({ transactionIndex: index, signatures }): SvmTransaction => {
        const signature = fromBase58(signatures[0] ?? '', 64)
        if (!signature)
          throw new UnavailableError(`Slot ${header.number} has a transaction without a signature.`)
        return {
          index,
          signature,
          instructions: (acts.get(index) ?? []).sort(byTrace).map((each, place) => ({
            path: each.instructionAddress,
            place,
            program: each.programId,
            accounts: each.accounts,
            data: bytesOf(each.data),
          })),
          balances: (balances.get(index) ?? []).map(balanceOf),
        }
      }),
  }
}

function groupBy<T extends { transactionIndex: number }>(list: readonly T[]): Map<number, T[]> {
  const groups = new Map<number, T[]>()
  for (const each of list) {
    const group = groups.get(each.transactionIndex) ?? []
    group.push(each)
    groups.set(each.transactionIndex, group)
  }
  return groups
}

/** An instruction comes before those that it entails. */
function byTrace(
  { instructionAddress: a }: { instructionAddress: number[] },
  { instructionAddress: b }: { instructionAddress: number[] },
) {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? -1) - (b[i] ?? -1)
    if (difference !== 0) return difference
  }
  return 0
}

function bytesOf(data: string): Buffer {
  const hex = data.startsWith('0x') ? data : hexOfBase58(data, 10_240)
  if (!hex) throw new UnavailableError('The Portal of Solana sent data that are no base58.')
  return Buffer.from(hex.slice(2), 'hex')
}

function balanceOf(said: z.infer<typeof tokenBalance>): TokenBalance {
  const holding = (mint?: Key | null, owner?: Key | null, held?: string | number | null) =>
    mint && owner && held !== null && held !== undefined ? { mint, owner, amount: BigInt(held) } : undefined
  return {
    account: said.account,
    before: holding(said.preMint, said.preOwner, said.preAmount),
    after: holding(said.postMint, said.postOwner, said.postAmount),
  }
}
