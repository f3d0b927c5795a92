import { type Block, DataSourceBuilder, SolanaRpcClient } from '@subsquid/solana-stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fromBase58, hexOfBase58, toBase58 } from '../../db/base58.ts'
import { openFailover } from '../../db/chain/failover.ts'
import { readEvents, type StoredEvent } from '../../db/events/event-store.ts'
import { SOLANA } from '../../db/streams.ts'
import { openPortal } from '../../processors/source/portal-client.ts'
import type { SvmBlock, TokenBalance } from '../../processors/svm/block.ts'
import { openPortalSource } from '../../processors/svm/portal-source.ts'
import { openRpcSource } from '../../processors/svm/rpc-source.ts'
import type { SvmSource, Wanted } from '../../processors/svm/source.ts'
import { seededRandom } from '../chain/random.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'
import { startPortal, type TestPortal } from '../portal/server.ts'
import { ACTS, Crowd } from './crowd.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { indexSolana } from './index-solana.ts'
import { svmDataset } from './portal-server.ts'
import { type RpcNode, serveRpc } from './rpc-server.ts'

/** What `@subsquid/solana-stream` reads of a chain as it is meant to be used, by RPC with its own client and by a gateway, makes the very events that our sources make. */

let crowd: Crowd
let node: RpcNode
let portal: TestPortal
let gateway: Gateway
const stores: TestPostgres[] = []

beforeAll(async () => {
  crowd = await Crowd.gather(4)
  const random = seededRandom(61)
  for (let i = 0; i < 60; i++) {
    const wallet = random.pick(crowd.wallets)
    const kind = random.pick(ACTS)
    if (!wallet || !kind) continue
    // What somebody has too little for fails, and is on the chain all the same.
    await crowd.chain.send(wallet, await crowd.act(kind, wallet, BigInt(1 + random.below(1e9))))
    if (random.chance(0.2)) crowd.chain.mine([], 1 + random.below(5))
  }
  node = await serveRpc(crowd.chain)
  portal = await startPortal(svmDataset(crowd.chain))
  gateway = await startGateway(crowd.chain)
})
afterAll(async () => {
  for (const server of [node, portal, gateway]) await server.close()
  for (const store of stores) await store.drop()
})

const FIELDS = {
  block: { slot: true, timestamp: true },
  transaction: { signatures: true, err: true },
  instruction: { programId: true, accounts: true, data: true, isCommitted: false },
  log: { kind: true, message: true },
  tokenBalance: {
    preMint: true,
    postMint: true,
    preOwner: true,
    postOwner: true,
    preAmount: true,
    postAmount: true,
    preDecimals: false,
    postDecimals: false,
  },
} as const

function streamOf(
  from: 'rpc' | 'gateway',
  { programs, acts, mints }: Wanted,
  range: { from: number; to: number },
) {
  const builder = new DataSourceBuilder().setFields(FIELDS).setBlockRange(range)
  if (from === 'gateway') builder.setGateway(gateway.url)
  else builder.setRpc({ client: new SolanaRpcClient({ url: node.url }) })
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
  return builder.build().getBlockStream()
}

type Streamed = Block<typeof FIELDS>

/** SQD's package as a source of ours: it counts heights, not slots. */
function sqdSource(from: 'rpc' | 'gateway'): SvmSource {
  const { chain } = crowd
  return {
    isFiltered: true,
    head: async () => chain.slot,
    async read(first, last, wanted) {
      const within = chain.blocks.filter(({ slot }) => slot >= first && slot <= last)
      const [begin, end] = [within[0], within.at(-1)]
      if (!begin || !end) return undefined
      const blocks: SvmBlock[] = []
      for await (const batch of streamOf(from, wanted, { from: begin.blockHeight, to: end.blockHeight }))
        blocks.push(...batch.map(blockOf))
      return { blocks, end: { slot: end.slot, hash: key(end.blockhash), time: end.blockTime ?? 0 } }
    },
  }
}

const key = (text: string) => fromBase58(text) as `0x${string}`

function blockOf({ header, transactions, instructions, logs, tokenBalances }: Streamed): SvmBlock {
  return {
    slot: header.slot,
    hash: key(header.hash),
    parentHash: key(header.parentHash),
    time: Number(header.timestamp),
    transactions: transactions
      .filter(({ err }) => !err)
      .map(({ transactionIndex: index, signatures }) => ({
        index,
        signature: fromBase58(signatures[0] ?? '', 64) ?? '',
        instructions: instructions
          .filter(each => each.transactionIndex === index)
          .map(({ instructionAddress: path, programId, accounts, data }, place) => {
            const logged = logs
              .filter(
                each =>
                  each.kind === 'data' &&
                  each.transactionIndex === index &&
                  each.instructionAddress.join() === path.join(),
              )
              .map(({ message }) => Buffer.from(message, 'base64'))
            return {
              path,
              place,
              program: key(programId),
              accounts: accounts.map(key),
              data: Buffer.from(hexOfBase58(data, 10_240)?.slice(2) ?? '', 'hex'),
              ...(logged.length > 0 && { logged }),
            }
          }),
        balances: tokenBalances
          .filter(each => each.transactionIndex === index)
          .map(
            (each): TokenBalance => ({
              account: key(each.account),
              before: holding(each.preMint, each.preOwner, each.preAmount),
              after: holding(each.postMint, each.postOwner, each.postAmount),
            }),
          ),
      })),
  }
}

const holding = (mint?: string, owner?: string, amount?: bigint) =>
  mint && owner && amount !== undefined ? { mint: key(mint), owner: key(owner), amount } : undefined

async function indexed(source: SvmSource): Promise<StoredEvent[]> {
  const store = await createPostgres()
  stores.push(store)
  await indexSolana(store.pool, { chain: crowd.chain, source })
  return readEvents(store.pool, SOLANA.id, { after: 0 })
}

it('one chain by four sources is one log of events', async () => {
  const ours = await indexed(openRpcSource(openFailover([node.url])))
  expect(ours.length).toBeGreaterThan(150)
  expect(new Set(ours.map(({ type }) => type)).size).toBeGreaterThanOrEqual(6)
  const client = openPortal({
    network: 'solana',
    urls: [portal.url],
    firstPause: 10,
    settings: { url: 'PORTAL_SOLANA', key: 'PORTAL_API_KEY' },
  })
  expect(await indexed(openPortalSource(client))).toEqual(ours)
  expect(await indexed(sqdSource('rpc'))).toEqual(ours)
  expect(await indexed(sqdSource('gateway'))).toEqual(ours)
  expect(gateway.queries.length).toBeGreaterThan(0)
})
