import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { fromBase58 } from '../../../db/base58.ts'
import type { BlockEvents } from '../../../db/events/event-store.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { SOLANA } from '../../../db/solana.ts'
import { type Sent, TestChain } from '../../svm/chain.ts'
import { type RpcNode, serveRpc } from '../../svm/rpc-server.ts'
import { type PoolOptions, TestPool, tokenAccountOf } from '../../svm/stake-pool.ts'
import { appendBlocks } from '../append.ts'
import type { ApiHarness } from '../harness.ts'
import { stand } from '../stand.ts'

export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'
export const SOL = 10n ** 9n

export const hexOf = (base58: string, bytes = 32): string => {
  const hex = fromBase58(base58, bytes)
  if (!hex) throw new TypeError(`${base58} is not ${bytes} bytes`)
  return hex
}

/** A stake pool on a chain of Solana's kind, a wallet in it, and what an index would have been told of both. */
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
  const user = await chain.wallet(10_000n * SOL)
  const world: SolanaWorld = { chain, node: await serveRpc(chain), pool, user, deposits: [] }
  await chain.send(user, [await pool.openAccount(user.address, user)])
  for (const lamports of deposits) {
    const before = await pool.balanceOf(user.address)
    const sent = await chain.send(user, [await pool.depositSol(user, lamports)])
    world.deposits.push({ sent, lamports, shares: (await pool.balanceOf(user.address)) - before })
  }
  return world
}

/** What happened in the world, block by block, in the words of the event store. */
export async function blocksOf({ chain, pool, user, deposits }: SolanaWorld): Promise<BlockEvents[]> {
  const told = { protocol: 'spl-stake-pool', contract: hexOf(pool.pool) }
  const tokenAccount = hexOf(await tokenAccountOf(user.address, pool.mint))
  let held = 0n
  const blocks: BlockEvents[] = deposits.map(({ sent, lamports, shares }) => {
    const place = { transactionHash: hexOf(sent.signature, 64) }
    held += shares
    return blockOf(chain, sent.slot, [
      {
        type: 'SvmDeposited',
        ...told,
        ...place,
        logIndex: 0,
        data: {
          account: hexOf(user.address),
          sender: hexOf(user.address),
          assets: lamports,
          shares,
          instructionIndex: 0,
          path: '0',
        },
      },
      {
        type: 'SvmShareAccountChanged',
        protocol: 'spl-stake-pool',
        contract: hexOf(pool.mint),
        ...place,
        logIndex: 128,
        data: { tokenAccount, owner: hexOf(user.address), amount: held },
      },
    ])
  })
  // Opening the token account was the first block after the beginning.
  const first = blockOf(chain, chain.blocks[1]?.slot ?? 0, describedBy(pool))
  return [first, ...blocks, sampled(chain, pool)]
}

function describedBy(pool: TestPool): DomainEvent[] {
  const by = { protocol: 'spl-stake-pool' }
  return [
    {
      type: 'SvmVaultIdentified',
      ...by,
      contract: hexOf(pool.pool),
      logIndex: 0,
      data: {
        program: hexOf(pool.program),
        shareMint: hexOf(pool.mint),
        asset: hexOf(WRAPPED_SOL),
        authority: hexOf(pool.authority),
        reserve: hexOf(pool.reserve),
      },
    },
    {
      type: 'SvmMintDescribed',
      ...by,
      contract: hexOf(pool.mint),
      logIndex: 0,
      data: {
        tokenProgram: hexOf('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
        decimals: 9,
        mintAuthority: hexOf(pool.authority),
        name: 'Test pool SOL\0\0\0',
        symbol: 'tSOL\0',
      },
    },
  ] as DomainEvent[]
}

/** What a sample says at the head of the chain. */
export function sampled(chain: TestChain, pool: TestPool): BlockEvents {
  chain.mine([])
  const { lamports, supply } = pool.state()
  return blockOf(chain, chain.slot, [
    {
      type: 'SvmVaultSampled',
      protocol: 'spl-stake-pool',
      contract: hexOf(pool.pool),
      logIndex: 0,
      data: {
        reason: 'hourly',
        totalAssets: lamports,
        totalSupply: supply,
        ...(supply > 0n ? { priceAssets: lamports, priceShares: supply } : {}),
        decimals: 9,
        assetDecimals: 9,
      },
    } as DomainEvent,
  ])
}

function blockOf(chain: TestChain, slot: number, events: DomainEvent[]): BlockEvents {
  const block = chain.blocks.find(of => of.slot === slot)
  if (!block) throw new RangeError(`no block of slot ${slot}`)
  return {
    block: { number: slot, hash: hexOf(block.blockhash), timestamp: block.blockTime ?? 0 },
    events,
  }
}

export const appendSolana = (api: Pick<ApiHarness, 'pool'>, blocks: readonly BlockEvents[]): Promise<void> =>
  appendBlocks(api.pool, SOLANA.stream, SOLANA.name, blocks, 'svm')

/** The world told to an API; SOL costs `usd`. */
export async function seatSolana(
  api: Pick<ApiHarness, 'pool' | 'recordFacts' | 'catchUp'>,
  world: SolanaWorld,
  usd = '200',
): Promise<void> {
  await api.recordFacts(
    [{ subject: `asset:${SOLANA.stream}:${hexOf(WRAPPED_SOL)}`, kind: 'peg', value: { usd } }],
    world.chain.time,
  )
  await appendSolana(api, await blocksOf(world))
  stand['{svmVault}'] = world.pool.pool
  stand['{svmUser}'] = world.user.address
  await api.catchUp()
}

export const newKey = async (): Promise<string> => (await generateKeyPairSigner()).address
