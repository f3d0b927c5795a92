import { z } from 'zod'
import type { Key } from '../../abi/svm/programs.ts'
import { fromBase58, hexOfBase58 } from '../../db/base58.ts'
import { groupBy } from '../../db/group-by.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import type { SvmBlock, SvmTransaction, TokenBalance } from './block.ts'

/** What is asked for beside the places of things. */
export const FIELDS = {
  transaction: { signatures: true, err: true },
  instruction: { programId: true, accounts: true, data: true },
  tokenBalance: {
    preMint: true,
    postMint: true,
    preOwner: true,
    postOwner: true,
    preAmount: true,
    postAmount: true,
  },
  log: { kind: true, message: true },
} as const

/** Keys come many times each. */
const MOST_KEYS = 100_000
const known = new Map<string, Key>()
const key = z.string().transform((text, context) => {
  const before = known.get(text)
  if (before) return before
  const hex = fromBase58(text) as Key | undefined
  if (!hex) {
    context.addIssue({ code: 'custom', message: 'no 32 bytes of base58' })
    return z.NEVER
  }
  if (known.size === MOST_KEYS) known.clear()
  known.set(text, hex)
  return hex
})
const place = z.number().int().nonnegative()
const amount = z.union([z.string().regex(/^\d{1,20}$/), z.number().int().nonnegative(), z.bigint()])
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
const logMessage = z.object({
  transactionIndex: place,
  logIndex: place,
  instructionAddress: z.array(place).min(1),
  kind: z.string(),
  message: z.string(),
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
  logs: z.array(logMessage).default([]),
})

/**
 * A block as SQD's software shapes it, whoever read it: a Portal, or `@subsquid/solana-stream` of a node.
 * @param before time of the block before: a block may have none of its own
 */
export function blockOf(said: unknown, before: number): SvmBlock {
  const { header, transactions, instructions, tokenBalances, logs } = block.parse(said)
  const balances = groupBy(tokenBalances, placeInBlock)
  const acts = groupBy(instructions, placeInBlock)
  const logged = dataByInstruction(logs)
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
          instructions: (acts.get(index) ?? []).sort(byTrace).map((each, place) => {
            const data = logged.get(placeOf(each))
            return {
              path: each.instructionAddress,
              place,
              program: each.programId,
              accounts: each.accounts,
              data: bytesOf(each.data),
              ...(data && { logged: data }),
            }
          }),
          balances: (balances.get(index) ?? []).map(balanceOf),
        }
      }),
  }
}

const placeOf = (of: { transactionIndex: number; instructionAddress: readonly number[] }) =>
  [of.transactionIndex, ...of.instructionAddress].join('.')

const placeInBlock = (of: { transactionIndex: number }) => of.transactionIndex

/** What instructions wrote as data, by their places. */
function dataByInstruction(logs: readonly z.infer<typeof logMessage>[]): Map<string, Buffer[]> {
  const written = logs
    .filter(({ kind }) => kind === 'data')
    .sort((a, b) => a.transactionIndex - b.transactionIndex || a.logIndex - b.logIndex)
  const places = [...groupBy(written, placeOf)]
  return new Map(places.map(([place, all]) => [place, all.map(({ message }) => dataOf(message))]))
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
  if (!hex) throw new UnavailableError('A block of Solana has data that are no base58.')
  return Buffer.from(hex.slice(2), 'hex')
}

function balanceOf(said: z.infer<typeof tokenBalance>): TokenBalance {
  const holding = (mint?: Key | null, owner?: Key | null, held?: string | number | bigint | null) =>
    mint && owner && held !== null && held !== undefined ? { mint, owner, amount: BigInt(held) } : undefined
  return {
    account: said.account,
    before: holding(said.preMint, said.preOwner, said.preAmount),
    after: holding(said.postMint, said.postOwner, said.postAmount),
  }
}

/** Fields of one writing are encoded one by one, and parted by spaces. */
const dataOf = (message: string): Buffer =>
  Buffer.concat(message.split(' ').map(field => Buffer.from(field, 'base64')))
