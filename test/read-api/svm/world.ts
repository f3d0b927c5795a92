import { type Address, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { fromBase58 } from '../../../db/base58.ts'
import { SOLANA } from '../../../db/streams.ts'
import { type Sent, TestChain } from '../../svm/chain.ts'
import { indexSolana } from '../../svm/index-solana.ts'
import { type RpcNode, serveRpc } from '../../svm/rpc-server.ts'
import { type PoolOptions, TestPool } from '../../svm/stake-pool.ts'
import { setTokens, tokenAccountOf } from '../../svm/tokens.ts'
import type { ApiHarness } from '../harness.ts'
import { stand } from '../stand.ts'

export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'
export const SOL = 10n ** 9n

const hexOf = (base58: string): string => {
  const hex = fromBase58(base58)
  if (!hex) throw new TypeError(`${base58} is not 32 bytes`)
  return hex
}

/** A stake pool on a chain of Solana's kind, and a wallet in it. */
export interface SolanaWorld {
  chain: TestChain
  node: RpcNode
  pool: TestPool
  user: KeyPairSigner
  /** Deposits of `user`, and what each gave. */
  deposits: { sent: Sent; lamports: bigint; shares: bigint }[]
}

export async function makeSolana(
  options: PoolOptions = {},
  deposits: readonly bigint[] = [1_500n * SOL, 250n * SOL],
): Promise<SolanaWorld> {
  const chain = new TestChain({ time: 1_735_700_000 })
  const pool = await TestPool.create(chain, options)
  await pool.describe('Test pool SOL', 'tSOL')
  const user = await chain.wallet(10_000n * SOL)
  const world: SolanaWorld = { chain, node: await serveRpc(chain), pool, user, deposits: [] }
  // An update tells of a pool in which nobody is.
  await chain.send(user, [await pool.openAccount(user.address, user), pool.update()])
  for (const lamports of deposits) {
    const before = await pool.balanceOf(user.address)
    const sent = await chain.send(user, [await pool.depositSol(user, lamports)])
    world.deposits.push({ sent, lamports, shares: (await pool.balanceOf(user.address)) - before })
  }
  return world
}

/** The world indexed by an API. `price`: the fact that says what SOL costs. */
export async function seatSolana(
  api: Pick<ApiHarness, 'pool' | 'recordFacts' | 'catchUp'>,
  world: SolanaWorld,
  price: { kind: 'peg' | 'feed'; value: unknown } = { kind: 'peg', value: { usd: '200' } },
): Promise<void> {
  await api.recordFacts([{ subject: `asset:${SOLANA.id}:${hexOf(WRAPPED_SOL)}`, ...price }], world.chain.time)
  await indexSolana(api.pool, world)
  stand['{svmVault}'] = world.pool.pool
  stand['{svmUser}'] = world.user.address
  await api.catchUp()
}

export const newKey = async (): Promise<string> => (await generateKeyPairSigner()).address

/** Wraps SOL past the rules: a token account of the wallet with as many lamports more. */
export async function wrapSol(
  { chain }: SolanaWorld,
  user: KeyPairSigner,
  lamports: bigint,
): Promise<string> {
  const at = await tokenAccountOf(user.address, WRAPPED_SOL as Address)
  setTokens(chain, at, { mint: WRAPPED_SOL as Address, owner: user.address, amount: lamports })
  return at
}
