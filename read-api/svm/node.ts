import type { Key } from '../../abi/svm/programs.ts'
import { fromBase58, toBase58 } from '../../db/base58.ts'
import { RpcRefusedError } from '../../db/chain/errors.ts'
import { openFailover } from '../../db/chain/failover.ts'
import { log } from '../../db/process/log.ts'
import { DependencyDownError, RequestError } from '../http/errors.ts'
import { z } from '../http/zod.ts'

/** Nobody named a node of Solana. */
class NoSolanaNodeError extends RequestError {
  readonly code = 'NOT_CONFIGURED'
  readonly status = 503
  constructor() {
    super('What wallets on Solana hold cannot be read here: RPC_SOLANA is not set.')
  }
}

export interface SvmAccount {
  owner: Key
  lamports: bigint
  data: Buffer
}

export interface SvmSimulation {
  /** As the node has it; undefined: it would land. */
  error: unknown
  units: bigint
  logs: readonly string[]
  accounts: readonly (SvmAccount | undefined)[]
}

/** What is asked of a node of Solana while a request waits: all at commitment `confirmed`, the newest state that is seldom taken back. */
export interface SolanaNode {
  readonly isConfigured: boolean
  /** Accounts of one slot, 100 at most; undefined: there is none. */
  accounts(keys: readonly Key[]): Promise<{ slot: bigint; accounts: (SvmAccount | undefined)[] }>
  tokenAccounts(owner: Key, mint: Key): Promise<{ slot: bigint; accounts: SvmAccount[] }>
  blockhash(): Promise<{ blockhash: Key; lastValidBlockHeight: bigint }>
  simulate(transaction: Uint8Array, watched: readonly Key[]): Promise<SvmSimulation>
}

/** Bytes of an answer: an account has 10 MB at most, and none that is read here has as many. */
const MOST_BYTES = 16 * 1024 * 1024
const CONFIRMED = { commitment: 'confirmed', encoding: 'base64' }

/** 64 bits, which JSON has in digits; those that a number cannot hold come as text. */
const u64 = z
  .union([z.int().nonnegative(), z.string().regex(/^\d{1,20}$/)])
  .transform(BigInt)
  .refine(value => value < 2n ** 64n)
const key = z.string().transform((text, context): Key => {
  const hex = fromBase58(text)
  if (hex) return hex as Key
  context.addIssue({ code: 'custom', message: 'no base58 of 32 bytes' })
  return z.NEVER
})
const account = z
  .object({ lamports: u64, owner: key, data: z.tuple([z.base64(), z.literal('base64')]) })
  .transform(({ lamports, owner, data }) => ({ lamports, owner, data: Buffer.from(data[0], 'base64') }))
const maybeAccount = account.nullable().transform(of => of ?? undefined)
const at = <T extends z.ZodType>(value: T) => z.object({ context: z.object({ slot: u64 }), value })

const accountsAnswer = at(z.array(maybeAccount).max(100))
const ownedAnswer = at(z.array(z.object({ account })).max(10_000))
const blockhashAnswer = at(z.object({ blockhash: key, lastValidBlockHeight: u64 }))
const simulationAnswer = at(
  z.object({
    err: z.unknown(),
    unitsConsumed: u64.optional(),
    logs: z.array(z.string()).nullish(),
    accounts: z.array(maybeAccount).nullish(),
  }),
)

export function createSolanaNode(urls: readonly string[] = [], { timeoutMs = 5_000 } = {}): SolanaNode {
  const failover = openFailover(
    urls,
    { timeoutMs, attempts: 1, maxBytes: MOST_BYTES, isExact: true },
    { isLogged: true },
  )

  async function ask<T extends z.ZodType>(
    schema: T,
    method: string,
    ...params: unknown[]
  ): Promise<z.output<T>> {
    if (urls.length === 0) throw new NoSolanaNodeError()
    const answer = await failover(method, params).catch((error: unknown) => {
      throw error instanceof RpcRefusedError ? new DependencyDownError('Solana', { cause: error }) : error
    })
    const parsed = schema.safeParse(answer)
    if (parsed.success) return parsed.data
    log.warn({ method, problem: z.prettifyError(parsed.error) }, 'a node of Solana answers something else')
    throw new DependencyDownError('Solana', { cause: parsed.error })
  }

  return {
    isConfigured: urls.length > 0,
    async accounts(keys) {
      const { context, value } = await ask(
        accountsAnswer,
        'getMultipleAccounts',
        keys.map(toBase58),
        CONFIRMED,
      )
      if (value.length !== keys.length) throw new DependencyDownError('Solana')
      return { slot: context.slot, accounts: value }
    },
    async tokenAccounts(owner, mint) {
      const { context, value } = await ask(
        ownedAnswer,
        'getTokenAccountsByOwner',
        toBase58(owner),
        { mint: toBase58(mint) },
        CONFIRMED,
      )
      return { slot: context.slot, accounts: value.map(of => of.account) }
    },
    async blockhash() {
      const { value } = await ask(blockhashAnswer, 'getLatestBlockhash', { commitment: 'confirmed' })
      return value
    },
    async simulate(transaction, watched) {
      const { value } = await ask(
        simulationAnswer,
        'simulateTransaction',
        Buffer.from(transaction).toString('base64'),
        {
          ...CONFIRMED,
          sigVerify: false,
          replaceRecentBlockhash: true,
          accounts: { encoding: 'base64', addresses: watched.map(toBase58) },
        },
      )
      return {
        error: value.err ?? undefined,
        units: value.unitsConsumed ?? 0n,
        logs: value.logs ?? [],
        accounts: value.accounts ?? [],
      }
    },
  }
}
