import { z } from 'zod'
import type { Key } from '../../abi/svm/programs.ts'
import { fromBase58, toBase58 } from '../../db/base58.ts'
import { RpcRefusedError } from '../../db/chain/errors.ts'
import type { Ask } from '../../db/chain/failover.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import type { SvmAccount } from './program.ts'

/** Accounts that getMultipleAccounts takes. */
export const MOST_KEYS = 100
/** No account that is meant is larger (62,552 bytes has the largest): of what is, no more than this comes. */
const LARGEST = 65_536
/** As many of these as are asked for at once, in base64. */
const MOST_BYTES = 10 * 1024 * 1024

const accountSchema = z
  .object({
    owner: z.string(),
    lamports: z.union([z.number(), z.string()]),
    data: z.tuple([z.string(), z.literal('base64')]),
  })
  .nullable()
const answerSchema = z.object({
  context: z.object({ slot: z.number().int().nonnegative() }),
  value: z.array(accountSchema),
})

/** What a node said of all that was asked for: of one slot. */
export interface Accounts {
  slot: number
  accounts: ReadonlyMap<Key, SvmAccount | undefined>
}

/** At most `MOST_KEYS` accounts, by a node that has come as far as `least`. */
export async function readAccounts(ask: Ask, keys: readonly Key[], least: number): Promise<Accounts> {
  const dataSlice = { offset: 0, length: LARGEST }
  const config = { commitment: 'finalized', encoding: 'base64', minContextSlot: least, dataSlice }
  const options = { isExact: true, maxBytes: MOST_BYTES }
  const said = answerSchema.safeParse(await ask('getMultipleAccounts', [keys.map(toBase58), config], options))
  // What is left out of an answer is not known not to be.
  if (!said.success || said.data.value.length !== keys.length)
    throw new UnavailableError('The node answers something else to a question for accounts.')
  const { context, value } = said.data
  assertAsFar(context.slot, least)
  return {
    slot: context.slot,
    accounts: new Map(keys.map((key, i) => [key, accountOf(value[i])])),
  }
}

/**
 * What a node says of a slot that is stored already comes too late to be one of its events.
 * @throws UnavailableError
 */
export function assertAsFar(slot: number, least: number): void {
  if (slot < least)
    throw new UnavailableError(
      `The node answers as of slot ${slot}, and was asked as of slot ${least} at least.`,
    )
}

/** Unhealthy, which is behind others; not as far as what is asked for. @see solana rpc-client-api, custom_error.rs */
const BEHIND = new Set([-32005, -32016])

/** The node is not as far as others: it may be the next moment. */
export const isBehind = (error: unknown): boolean =>
  error instanceof RpcRefusedError && BEHIND.has(error.rpcCode ?? 0)

/**
 * Reads what belongs to these together, or, where an answer would be too long, in halves; what is too long by itself is told of, and holds
 * up no other.
 */
export async function readInHalves<T>(
  asked: readonly T[],
  read: (part: readonly T[]) => Promise<void>,
  refuse: (one: T, reason: string) => void,
): Promise<void> {
  const [only] = asked
  if (only === undefined) return
  try {
    await read(asked)
  } catch (error) {
    if (!isTooLong(error)) throw error
    if (asked.length === 1) return refuse(only, error.message)
    const half = Math.ceil(asked.length / 2)
    await readInHalves(asked.slice(0, half), read, refuse)
    await readInHalves(asked.slice(half), read, refuse)
  }
}

/** By what we read at most, or by what the node or something before it gives at most, which each says in its own words. */
export const isTooLong = (error: unknown): error is RpcRefusedError =>
  error instanceof RpcRefusedError &&
  (error.isTooLong ||
    (error.isAboutQuestion && (!error.isAnswered || /too (big|large|long)|exceed/i.test(error.said))))

function accountOf(said: z.infer<typeof accountSchema> | undefined): SvmAccount | undefined {
  const owner = said && fromBase58(said.owner)
  if (!said || !owner) return undefined
  return { owner: owner as Key, lamports: BigInt(said.lamports), data: Buffer.from(said.data[0], 'base64') }
}
