import { z } from 'zod'
import type { Key } from '../../abi/svm/programs.ts'
import { fromBase58, hexOfBase58 } from '../../db/base58.ts'
import type { Holding, SvmBlock, SvmInstruction, SvmTransaction, TokenBalance } from './block.ts'
import { loggedBy } from './logs.ts'

/** A transaction's own bytes, and those of instructions it entails, have a bound. */
const MOST_DATA = 10_240

const key = z.string().transform((text, context) => {
  const hex = fromBase58(text)
  if (hex) return hex as Key
  context.addIssue({ code: 'custom', message: 'no 32 bytes of base58' })
  return z.NEVER
})
const data = z.string().transform((text, context) => {
  const hex = hexOfBase58(text, MOST_DATA)
  if (hex) return Buffer.from(hex.slice(2), 'hex')
  context.addIssue({ code: 'custom', message: 'no base58' })
  return z.NEVER
})
const place = z.number().int().nonnegative()
const instruction = z.object({
  programIdIndex: place,
  accounts: z.array(place),
  data,
  stackHeight: z.number().int().positive().nullish(),
})
const balance = z.object({
  accountIndex: place,
  mint: key,
  owner: key.nullish(),
  uiTokenAmount: z.object({ amount: z.string().regex(/^\d{1,20}$/) }),
})
const transaction = z.object({
  transaction: z.object({
    signatures: z.array(z.string()).min(1),
    message: z.object({ accountKeys: z.array(key), instructions: z.array(instruction) }),
  }),
  meta: z.object({
    innerInstructions: z.array(z.object({ index: place, instructions: z.array(instruction) })).nullish(),
    preTokenBalances: z.array(balance).nullish(),
    postTokenBalances: z.array(balance).nullish(),
    loadedAddresses: z.object({ writable: z.array(key), readonly: z.array(key) }).nullish(),
    logMessages: z.array(z.string()).nullish(),
  }),
})
/** Of those that do not concern us no more than this is read: they are nearly all. */
const glance = z.object({
  transaction: z.looseObject({ message: z.looseObject({ accountKeys: z.array(z.string()) }) }),
  meta: z
    .looseObject({
      err: z.unknown(),
      loadedAddresses: z.object({ writable: z.array(z.string()), readonly: z.array(z.string()) }).nullish(),
    })
    .nullable(),
})
const header = z.object({
  blockhash: key,
  previousBlockhash: key,
  parentSlot: z.number().int(),
  blockTime: z.number().int().nonnegative().nullish(),
})
const block = header.extend({ transactions: z.array(glance) })

/**
 * A block as getBlock answers it, with the transactions that concern us.
 * @param before time of the block before: a block may have none of its own
 */
export function blockOf(
  slot: number,
  answer: unknown,
  isMeant: (address: string) => boolean,
  before: number,
): SvmBlock {
  const said = block.parse(answer)
  return {
    slot,
    hash: said.blockhash,
    parentHash: said.previousBlockhash,
    time: said.blockTime ?? before,
    transactions: said.transactions.flatMap((each, index) => {
      if (!each.meta || each.meta.err !== null) return []
      const { writable = [], readonly = [] } = each.meta.loadedAddresses ?? {}
      const keys = [...each.transaction.message.accountKeys, ...writable, ...readonly]
      // A token balance names its mint, which need not be among the accounts.
      const mints = [each.meta['preTokenBalances'], each.meta['postTokenBalances']]
        .flatMap(list => (Array.isArray(list) ? list : []))
        .map(({ mint }) => mint)
      return [...keys, ...mints].some(isMeant) ? [transactionOf(index, each)] : []
    }),
  }
}

export function transactionOf(index: number, answer: unknown): SvmTransaction {
  const { transaction: sent, meta } = transaction.parse(answer)
  const { writable = [], readonly = [] } = meta.loadedAddresses ?? {}
  const keys = [...sent.message.accountKeys, ...writable, ...readonly]
  const signature = fromBase58(sent.signatures[0] ?? '', 64)
  if (!signature) throw new TypeError(`transaction ${index} has no signature of 64 bytes`)
  const at = (i: number) => {
    const found = keys[i]
    if (!found) throw new RangeError(`transaction ${index} names account ${i} of ${keys.length}`)
    return found
  }
  const instructions: SvmInstruction[] = []
  const add = (path: readonly number[], { programIdIndex, accounts, data }: z.infer<typeof instruction>) => {
    instructions.push({
      path,
      place: instructions.length,
      program: at(programIdIndex),
      accounts: accounts.map(at),
      data,
    })
  }
  sent.message.instructions.forEach((outer, i) => {
    add([i], outer)
    // Where no height is said (before 2023), all are the outer one's own.
    const path = [i]
    for (const inner of meta.innerInstructions?.find(({ index }) => index === i)?.instructions ?? []) {
      const height = inner.stackHeight ?? 2
      while (path.length > height) path.pop()
      path.push(path.length === height ? (path.pop() ?? 0) + 1 : 0)
      add([...path], inner)
    }
  })
  const logged = loggedBy(instructions, meta.logMessages ?? [])
  return {
    index,
    signature,
    instructions: instructions.map((each, place) => {
      const data = logged.get(place)
      return data ? { ...each, logged: data } : each
    }),
    balances: balancesOf(meta, at),
  }
}

function balancesOf(meta: z.infer<typeof transaction>['meta'], at: (i: number) => Key): TokenBalance[] {
  const found = new Map<number, TokenBalance>()
  const note = (which: 'before' | 'after', list: z.infer<typeof balance>[] | null | undefined) => {
    for (const { accountIndex, mint, owner, uiTokenAmount } of list ?? []) {
      // Blocks of before 2021 do not say who the owner was.
      if (!owner) continue
      const held: Holding = { mint, owner, amount: BigInt(uiTokenAmount.amount) }
      found.set(accountIndex, { account: at(accountIndex), ...found.get(accountIndex), [which]: held })
    }
  }
  note('before', meta.preTokenBalances)
  note('after', meta.postTokenBalances)
  return [...found.values()]
}
