import request from 'supertest'
import { encodeFunctionData, parseAbi, zeroAddress } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ownArtifacts } from '../chain/compile.ts'
import { calls, sendDeployment } from '../chain/deploy.ts'
import { type Node, startNode } from '../chain/node.ts'
import { createMarket, type PendleMarket, pendleCalls } from '../chain/pendle.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { type ApiHarness, startApi } from '../read-api/harness.ts'
import { listed } from './compare.ts'
import { askBundle, newTrader, send, trade } from './traders.ts'
import { balanceOf, buildPendleWorld, contractsOf, DAY, type PendleWorld, type VaultMarket } from './world.ts'

/** What transactions of fixed-term markets do where something is in the way, on Pendle's own contracts. */

let node: Node
let world: PendleWorld
let pipeline: Pipeline
let api: ApiHarness
let user: PrivateKeyAccount
let other: PrivateKeyAccount
/** Around a token of somebody's own: takes the chain's coin and gives another token than its asset. */
let open: VaultMarket
const unit = 10n ** 6n

const openSy = parseAbi(['function say(uint256 rate, bool isSilent)'])
const index = async () => {
  await pipeline.indexTo((await node.head()).number, { rpcUrl: node.rpcUrl, contracts: contractsOf(world) })
  await api.catchUp()
}
const get = (path: string, query: object = {}) =>
  request(api.app).get(path).query(query).set('x-api-key', api.apiKey)
const detailed = async (of: PendleMarket) =>
  (await get(`/beta/fixed-term/detailed/mainnet/${of.market}`)).body
const contextOf = async (of: PendleMarket, who: PrivateKeyAccount) =>
  (await get(`/beta/fixed-term/context/${who.address}/mainnet/${of.market}`)).body

async function openMarket(): Promise<VaultMarket> {
  const { admin } = world.pendle
  const { asset, vault } = world.long
  const args = ['SY open', asset.address, 18, [zeroAddress, asset.address], [vault.address, zeroAddress]]
  const sy = await sendDeployment(node, ownArtifacts().OpenSy, args)
  await node.mine()
  const { timestamp } = await node.head()
  const expiry = Math.floor(timestamp / DAY) * DAY + 60 * DAY
  const market = { ...(await createMarket(node, world.pendle, { sy, asset, expiry })), vault }
  const acts = pendleCalls(market)
  const ether = 10n ** 18n
  // What it gives: shares of the vault, which somebody sends it.
  await node.send(calls.transfer(admin, vault.address, sy, 300n * ether))
  for (const call of acts.wrap(admin, 200n * ether)) await node.send(call)
  for (const call of acts.split(admin, 100n * ether)) await node.send(call)
  await node.mine()
  for (const call of acts.addLiquidity(admin, 100n * ether, 50n * ether)) await node.send(call)
  await node.mine()
  return market
}

beforeAll(async () => {
  node = await startNode({ hardfork: 'cancun' })
  world = await buildPendleWorld(node)
  user = await newTrader(node, 1)
  other = await newTrader(node, 2)
  for (const { address } of [user, other])
    await node.send(calls.mintToken(world.pendle.admin, world.short.asset.address, address, 10n ** 12n))
  await node.mine()
  open = await openMarket()
  pipeline = await createPipeline()
  api = await startApi({ rpcUrl: node.rpcUrl, on: pipeline })
  await api.recordFacts(
    [
      { subject: `market:1:${world.short.market}`, kind: 'listed', value: {} },
      { subject: `contract:1:${world.long.sy}`, kind: 'wrapper', value: {} },
      { subject: `asset:1:${world.short.asset.address}`, kind: 'peg', value: { usd: '1' } },
    ],
    1_700_000_000,
  )
  await index()
}, 180_000)
afterAll(async () => {
  await api?.stop()
  await pipeline?.drop()
  await node?.stop()
})

test('who vouches for a market decides where it is shown; it always answers for itself', async () => {
  const { short, long, empty } = world
  // The empty one is of the same wrapped token as the short one, for which nobody vouches.
  expect((await listed(api)).sort()).toEqual([short.market, long.market].sort())
  expect((await listed(api, { allowUnlisted: 'true' })).sort()).toEqual(
    [short, long, empty, open].map(({ market }) => market).sort(),
  )
  const answer = await get('/beta/fixed-term')
  expect(answer.headers['x-unlisted-left-out']).toBe('2')
  expect(answer.headers['x-credits-used']).toBe('7')
  expect((await detailed(short)).standing).toBe('listed')
  expect((await detailed(long)).standing).toBe('made')
  expect(await detailed(open)).toMatchObject({
    standing: 'found',
    warnings: expect.arrayContaining([expect.stringMatching(/Nobody vouches/)]),
  })
  const wish = {
    user,
    market: open,
    action: 'swap-in',
    amount: 10n ** 15n,
    assetAddress: zeroAddress,
  } as const
  const refused = await askBundle(api, wish)
  expect([refused.status, refused.body.message]).toEqual([422, expect.stringMatching(/allowUnlisted=true/)])
})

test('filters and orders', async () => {
  const { short, long } = world
  const asc = await listed(api, { sortBy: 'expiry' })
  expect(asc).toEqual([short.market, long.market])
  expect(await listed(api, { sortBy: 'expiry', sortOrder: 'desc' })).toEqual([long.market, short.market])
  // What WETH costs is not known: last in either order, and past no bound.
  expect(await listed(api, { sortBy: 'tvl' })).toEqual([short.market, long.market])
  expect(await listed(api, { sortBy: 'tvl', sortOrder: 'desc' })).toEqual([short.market, long.market])
  expect(await listed(api, { sortBy: 'liquidity', sortOrder: 'desc' })).toEqual([short.market, long.market])
  const [a, b] = [(await detailed(short)).apy, (await detailed(long)).apy]
  expect(a).toBeGreaterThan(b)
  expect(await listed(api, { sortBy: 'apy' })).toEqual([long.market, short.market])
  expect(await listed(api, { minApy: String((a + b) / 2) })).toEqual([short.market])
  expect(await listed(api, { maxApy: String((a + b) / 2) })).toEqual([long.market])
  expect(await listed(api, { minTvl: '1' })).toEqual([short.market])
  expect(await listed(api, { maxTvl: '1' })).toEqual([])
  expect(await listed(api, { minLiquidity: '700000' })).toEqual([short.market])
  expect(await listed(api, { minLiquidity: '900000' })).toEqual([])
  expect(await listed(api, { maxExpiry: String(short.expiry) })).toEqual([short.market])
  expect(await listed(api, { minExpiry: String(short.expiry + 1) })).toEqual([long.market])
  expect(await listed(api, { allowedAssets: 'usdc' })).toEqual([short.market])
  expect(await listed(api, { disallowedAssets: 'USDC' })).toEqual([long.market])
  expect(await listed(api, { allowedAssets: long.asset.address })).toEqual([long.market])
  expect(await listed(api, { allowedNetworks: 'base' })).toEqual([])
  expect(await listed(api, { disallowedNetworks: 'mainnet' })).toEqual([])
  const unknown = await get('/beta/fixed-term', { allowedAssets: 'NOSUCH', allowedNetworks: 'base' })
  expect(unknown.body.errors).toMatchObject({ unsupportedAssets: ['NOSUCH'], unsupportedNetworks: ['base'] })
})

test('a token without a price has no USD, and not zero', async () => {
  expect((await detailed(world.long)).tvl).toMatchObject({ usd: '', native: expect.stringMatching(/^\d+$/) })
  expect(Number((await detailed(world.short)).tvl.usd)).toBeGreaterThan(500_000)
  expect(await detailed(world.empty)).toMatchObject({ apy: 0, tvl: { usd: '0', native: '0' } })
  expect((await detailed(world.empty)).warnings).toContainEqual(
    expect.stringMatching(/never anything in the pool/),
  )
})

test('the context says what is taken and given', async () => {
  const { short } = world
  const body = await contextOf(short, user)
  expect(body.actions).toEqual(['swap-in', 'swap-out'])
  expect(body.asset.balanceNative).toBe(String(10n ** 12n))
  const [swapIn, swapOut] = body.steps
  expect(swapIn.tokens.map((token: string) => token.toLowerCase()).sort()).toEqual(
    [short.asset.address, short.vault.address].sort(),
  )
  expect(swapIn.receives).toMatchObject({ symbol: short.pt.symbol })
  expect(swapOut.receives).toMatchObject({ symbol: 'USDC', decimals: 6 })
  expect((await get(`${swapIn.actionsUrl}&amount=${unit}`)).status).toBe(200)
})

test('buying and selling, in the asset and in the wrapped share', async () => {
  const { short, pendle } = world
  const bought = await trade(node, api, { user, market: short, action: 'swap-in', amount: 10_000n * unit })
  expect([bought.landed, bought.by]).toEqual([true, 'swapExactTokenForPt'])
  const sold = await trade(node, api, { user, market: short, action: 'swap-out', amount: 4_000n * unit })
  expect([sold.landed, sold.by]).toEqual([true, 'swapExactPtForToken'])
  await node.send(calls.transfer(pendle.admin, short.vault.address, user.address, 500n * unit))
  await node.mine()
  const shares = {
    user,
    market: short,
    action: 'swap-in',
    amount: 500n * unit,
    assetAddress: short.vault.address,
  } as const
  expect((await trade(node, api, shares)).landed).toBe(true)
})

test('the floor holds: what a trade before it makes worse reverts, and takes nothing', async () => {
  const { short } = world
  const answer = await askBundle(api, {
    user,
    market: short,
    action: 'swap-in',
    amount: 1_000n * unit,
    slippage: 0.0001,
  })
  const large = await trade(node, api, {
    user: other,
    market: short,
    action: 'swap-in',
    amount: 150_000n * unit,
    slippage: 0.5,
  })
  expect(large.landed).toBe(true)
  const before = [
    await balanceOf(node, short.pt.address, user.address),
    await balanceOf(node, short.asset.address, user.address),
  ]
  expect(await send(node, user, answer.body)).toBe(false)
  expect([
    await balanceOf(node, short.pt.address, user.address),
    await balanceOf(node, short.asset.address, user.address),
  ]).toEqual(before)
})

test.each([
  ['no slippage at all', { slippage: '0' }, 400, /must be more than 0/],
  ['more slippage than half', { slippage: '0.51' }, 400, /at most 0.5/],
  ['no amount', { amount: undefined }, 422, /amount or all=true is needed/],
  ['more than the wallet holds', { amount: String(10n ** 15n) }, 422, /The wallet holds/],
  [
    'a token that is not taken',
    { assetAddress: `0x${'12'.repeat(20)}` },
    422,
    /does not take .* must be one of 0x/,
  ],
  ['nothing', { amount: '0' }, 422, /amount is 0/],
])('refused with what would be right: %s', async (_, query, status, message) => {
  const { short } = world
  const path = `/beta/fixed-term/transactions/swap-in/${user.address}/mainnet/${short.market}`
  const wish = { assetAddress: short.asset.address, amount: String(unit), ...query }
  const answer = await get(
    path,
    Object.fromEntries(Object.entries(wish).filter(([, value]) => value !== undefined)),
  )
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)])
})

test("the chain's own coin is taken where the market takes it, and what comes out need not be the asset", async () => {
  const context = await contextOf(open, user)
  const swapOut = context.steps.find(({ name }: { name: string }) => name === 'swap-out')
  expect(swapOut.receives.address.toLowerCase()).toBe(open.vault.address)
  const path = `/beta/fixed-term/transactions/swap-in/${user.address}/mainnet/${open.market}`
  const answer = await get(path, {
    assetAddress: zeroAddress,
    amount: String(10n ** 18n),
    allowUnlisted: 'true',
    simulate: 'true',
  })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  expect(answer.body.actions.map(({ name }: { name: string }) => name)).toEqual(['swap-in'])
  expect(answer.body.actions[0].tx.value).toBe(String(10n ** 18n))
  expect(answer.body.actions[0].simulation.tokensSpent).toEqual({ native: String(10n ** 18n) })
  expect(await send(node, user, answer.body)).toBe(true)
  const pt = await balanceOf(node, open.pt.address, user.address)
  expect(pt).toBeGreaterThan(10n ** 18n)
  const sold = await trade(node, api, { user, market: open, action: 'swap-out', amount: pt / 2n })
  expect(sold.landed).toBe(true)
  expect(await balanceOf(node, open.vault.address, user.address)).toBe(sold.received)
})

test.each([
  ['silent', 10n ** 18n, true],
  ['zero', 0n, false],
  ['beyond all rates', 10n ** 37n, false],
])('an SY whose rate is %s has no worth, and the operator is told', async (_, rate, isSilent) => {
  const data = encodeFunctionData({ abi: openSy, functionName: 'say', args: [rate, isSilent] })
  const { timestamp } = await node.head()
  await node.send({ from: world.pendle.admin, to: open.sy, data })
  await node.mine(timestamp + 3_700)
  await index()
  expect(await detailed(open)).toMatchObject({
    tvl: { usd: '', native: '' },
    liquidity: { usd: '', native: '' },
  })
  expect((await detailed(open)).warnings).toContainEqual(expect.stringMatching(/does not say its rate/))
  const { rows } = await pipeline.postgres.pool.query<{ reason: string }>(
    'SELECT reason FROM dead_letter WHERE contract = $1 ORDER BY id DESC LIMIT 1',
    [open.sy],
  )
  expect(rows[0]?.reason).toMatch(isSilent ? /does not answer/ : /which is no rate/)
  expect(await listed(api)).not.toContain(open.market)
  expect(Number((await detailed(world.short)).tvl.usd)).toBeGreaterThan(500_000)
})

test('a second before the expiry PT are sold, from then on they are redeemed, and nothing is bought any more', async () => {
  const { short, long, pendle } = world
  const amount = 10n ** 18n
  await node.send(calls.mintToken(pendle.admin, long.asset.address, user.address, 10n * amount))
  await node.mine()
  const bought = await trade(node, api, { user, market: long, action: 'swap-in', amount: 5n * amount })
  expect(bought.landed).toBe(true)
  await node.mine(short.expiry - 1)
  await index()
  // Of a token of few decimals the fee of a small trade is nothing by then.
  const small = await askBundle(api, { user, market: short, action: 'swap-out', amount: 10n })
  expect([small.status, small.body.message]).toEqual([422, expect.stringMatching(/MarketZeroNetLPFee|ended/)])
  await node.mine(long.expiry - 2)
  await index()
  const before = await trade(node, api, { user, market: long, action: 'swap-out', amount }, long.expiry - 1)
  expect([before.landed, before.by]).toEqual([true, 'swapExactPtForToken'])
  await index()
  expect(await listed(api)).toContain(long.market)
  // Made a second before and landing at the expiry: the market has ended by then.
  const late = await askBundle(api, { user, market: long, action: 'swap-out', amount })
  const held = await balanceOf(node, long.pt.address, user.address)
  if (late.status === 200) expect(await send(node, user, late.body, long.expiry)).toBe(false)
  else {
    expect([late.status, late.body.message]).toEqual([422, expect.stringMatching(/ended/)])
    await node.mine(long.expiry)
  }
  expect(await balanceOf(node, long.pt.address, user.address)).toBe(held)
  await index()
  const at = await trade(node, api, { user, market: long, action: 'swap-out', amount })
  expect([at.landed, at.by]).toEqual([true, 'redeemPyToToken'])
  expect(await listed(api)).not.toContain(long.market)
  const refused = await askBundle(api, { user, market: long, action: 'swap-in', amount })
  expect([refused.status, refused.body.message]).toEqual([
    422,
    expect.stringMatching(/ended at .* A swap-out redeems/),
  ])
  expect((await contextOf(long, user)).actions).toEqual(['swap-out'])
  await node.mine(long.expiry + 30 * DAY)
  await index()
  const after = await trade(node, api, { user, market: long, action: 'swap-out', amount: held - amount })
  expect([after.landed, after.by]).toEqual([true, 'redeemPyToToken'])
  expect(await balanceOf(node, long.pt.address, user.address)).toBe(0n)
  expect((await detailed(long)).warnings).toContainEqual(expect.stringMatching(/has ended/))
})
