import type { Instruction } from '@solana/kit'
import { afterAll, expect, it } from 'vitest'
import { fromBase58 } from '../../db/base58.ts'
import { openFailover } from '../../db/chain/failover.ts'
import { readEvents } from '../../db/events/event-store.ts'
import { SOLANA } from '../../db/streams.ts'
import { openPortal } from '../../processors/source/portal-client.ts'
import { openPortalSource } from '../../processors/svm/portal-source.ts'
import { openRpcSource } from '../../processors/svm/rpc-source.ts'
import { createPostgres } from '../databases.ts'
import { startPortal } from '../portal/server.ts'
import { TestChain } from './chain.ts'
import { indexSolana } from './index-solana.ts'
import { LENDING_PROGRAM, TestLending } from './lend.ts'
import { svmDataset } from './portal-server.ts'
import { standsOn } from './programs/dumps.ts'
import { routed } from './router.ts'
import { serveRpc } from './rpc-server.ts'

standsOn(LENDING_PROGRAM)

const hex = (text: string) => fromBase58(text) ?? ''
const opened: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of opened) await close()
})

it('a lending vault: what was moved, whatever was asked for, and its price as it keeps it', async () => {
  const chain = new TestChain()
  const lending = await TestLending.create(chain)
  const wallet = await chain.wallet()
  const assets = await lending.tokenAccountOf(wallet.address, lending.mint)
  const shares = await lending.tokenAccountOf(wallet.address, lending.shareMint)
  lending.fund(assets, lending.mint, wallet.address, 1_000_000_000n)
  lending.fund(shares, lending.shareMint, wallet.address, 0n)
  const expected: [string, bigint, bigint][] = []
  const act = async (instruction: Instruction) => {
    const before = [lending.amountOf(assets), lending.amountOf(shares)] as const
    const { failed } = await chain.send(wallet, [instruction])
    expect(failed).toBeUndefined()
    const [moved, minted] = [lending.amountOf(assets) - before[0], lending.amountOf(shares) - before[1]]
    expected.push(minted > 0n ? ['SvmDeposited', -moved, minted] : ['SvmWithdrawn', moved, -minted])
  }
  await act(lending.deposit(wallet, assets, shares, 300_000_000n))
  chain.mine([], 3600)
  lending.setPrice(1_073_210_000_007n)
  lending.setLying(400_000_000n)
  await act(routed(chain, lending.deposit(wallet, assets, shares, 100_000_000n)))
  await act(lending.take('withdraw', wallet, shares, assets, 7_000_001n))
  await act(lending.take('redeem', wallet, shares, assets, 1_234_567n))
  // 100 assets at 1.07321 are 93.178409 shares.
  expect(expected[1]).toEqual(['SvmDeposited', 100_000_000n, 93_178_408n])
  const supply = lending.amountOf(shares)
  await act(lending.take('redeem', wallet, shares, assets, 2n ** 64n - 1n))
  await act(lending.deposit(wallet, assets, shares, 50_000_000n))
  chain.mine([], 3600)

  const [node, store] = [await serveRpc(chain), await createPostgres()]
  opened.push(node.close, store.drop)
  await indexSolana(store.pool, { chain, node })
  const events = await readEvents(store.pool, SOLANA.id, { after: 0 })
  const flows = events.filter(({ type }) => type === 'SvmDeposited' || type === 'SvmWithdrawn')
  expect(
    flows.map(({ type, data }) => [type, BigInt(data['assets'] as string), BigInt(data['shares'] as string)]),
  ).toEqual(expected)
  expect(flows.every(({ data }) => data['account'] === hex(wallet.address))).toBe(true)
  expect(expected[4]?.[2]).toBe(supply)
  const seen = events.filter(({ type }) => type === 'SvmVaultIdentified')
  expect(
    seen.map(({ contract, protocol, data }) => [contract, protocol, data['shareMint'], data['asset']]),
  ).toEqual([[hex(lending.lending), 'jupiter-lend', hex(lending.shareMint), hex(lending.mint)]])
  const [sample] = events.filter(({ type }) => type === 'SvmVaultSampled').slice(-1)
  const left = lending.amountOf(shares)
  expect(sample?.data).toMatchObject({
    priceAssets: '1073210000007',
    priceShares: '1000000000000',
    totalSupply: `${left}`,
    totalAssets: `${(left * 1_073_210_000_007n) / 10n ** 12n}`,
    decimals: 6,
    assetDecimals: 6,
  })
  const { rows } = await store.pool.query('SELECT * FROM dead_letter')
  expect(rows).toEqual([])
  const told = events.filter(({ type }) => type === 'SvmPriceUpdated')
  expect(told.map(({ tx_hash, data }) => [tx_hash, data['priceAssets']])).toEqual(
    flows.map(({ tx_hash }, i) => [tx_hash, i === 0 ? '1000000000000' : '1073210000007']),
  )
})

it('the past has the prices that the vault wrote down, by node and by Portal, and none where a log was cut off', async () => {
  const chain = new TestChain()
  const lending = await TestLending.create(chain)
  const wallet = await chain.wallet()
  const assets = await lending.tokenAccountOf(wallet.address, lending.mint)
  const shares = await lending.tokenAccountOf(wallet.address, lending.shareMint)
  lending.fund(assets, lending.mint, wallet.address, 1_000_000_000n)
  lending.fund(shares, lending.shareMint, wallet.address, 0n)
  const start = { startTime: BigInt(chain.time), duration: 31_536_000n, yearlyReward: 40_000_000n }
  lending.setRewards(start)
  const prices: bigint[] = []
  const act = async (...instructions: Instruction[]) => {
    chain.mine([], 86_400)
    expect((await chain.send(wallet, instructions)).failed).toBeUndefined()
    prices.push(lending.price())
  }
  await act(lending.deposit(wallet, assets, shares, 300_000_000n, 1n))
  await act(lending.update())
  await act(routed(chain, lending.deposit(wallet, assets, shares, 100_000_000n), 2))
  await act(lending.take('redeem', wallet, shares, assets, 50_000_000n, 1n))
  const cut = chain.head.transactions[0] as { meta: { logMessages: string[] } }
  cut.meta.logMessages = [...cut.meta.logMessages.slice(0, 1), 'Log truncated']
  await act(lending.update())

  const node = await serveRpc(chain)
  const portal = await startPortal(svmDataset(chain), { mostChunks: 1 })
  opened.push(node.close, () => portal.close())
  const client = openPortal({
    network: 'solana',
    urls: [portal.url],
    firstPause: 10,
    settings: { url: 'PORTAL_SOLANA', key: 'PORTAL_API_KEY' },
  })
  const found = []
  for (const source of [openRpcSource(openFailover([node.url])), openPortalSource(client)]) {
    const store = await createPostgres()
    opened.push(store.drop)
    await indexSolana(store.pool, { chain, source })
    found.push(await readEvents(store.pool, SOLANA.id, { after: 0 }))
  }
  const [byNode = [], byPortal = []] = found
  expect(byPortal).toEqual(byNode)
  const told = byNode.filter(({ type }) => type === 'SvmPriceUpdated')
  expect(told.map(({ data }) => data['priceAssets'])).toEqual(
    prices.filter((_, i) => i !== 3).map(price => `${price}`),
  )
  expect(new Set(prices).size).toBe(prices.length)
  expect(byNode.filter(({ type }) => type === 'SvmWithdrawn').length).toBe(1)
})
