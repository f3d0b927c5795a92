import { decodeFunctionData, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { calls } from '../chain/deploy.ts'
import { ichiAbi, ichiCalls } from '../chain/ichi.ts'
import { type Node, startNode } from '../chain/node.ts'
import { newTrader, send } from '../pendle/traders.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { type ApiHarness, startApi } from '../read-api/harness.ts'
import { ask, compareVault, deepShape, readAt, shown } from './compare.ts'
import { rootAt } from './uniswap.ts'
import {
  type AmmWorld,
  balanceOf,
  buildAmmWorld,
  chainState,
  contractsOf,
  factsOf,
  HOUR,
  type IchiVault,
  ticksAround,
} from './world.ts'
import { worthAt } from './worth.ts'

/** Vaults of liquidity on Uniswap's own pools, as the API shows them and has them used. */

const DAY = 86_400
const million = 10n ** 12n
let node: Node
let world: AmmWorld
let pipeline: Pipeline
let api: ApiHarness
let user: PrivateKeyAccount
let other: PrivateKeyAccount
const stage = () => ({ node, pipeline, api })
const catchUp = async () => {
  await pipeline.indexTo((await node.head()).number, { rpcUrl: node.rpcUrl, contracts: contractsOf(world) })
  await api.catchUp()
}
/** So long that the mean over time is the price. */
const settle = async (seconds = 2 * HOUR) => {
  const { timestamp } = await node.head()
  await node.mine(Math.floor((timestamp + seconds) / HOUR) * HOUR + 1)
  await catchUp()
}
const bundle = (
  action: 'deposit' | 'withdraw',
  who: PrivateKeyAccount,
  vault: IchiVault,
  query: Record<string, string>,
) => ask({ api }, `${action}/${who.address}/mainnet/${vault.address}`, { simulate: 'true', ...query })
const listed = async (query: object = {}) => {
  const answer = await ask({ api }, 'detailed-vaults', query)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  const vaults = deepShape
    .array()
    .parse(answer.body.data)
    .map(of => of.address.toLowerCase())
  return { vaults, headers: answer.headers, errors: answer.body.errors }
}

beforeAll(async () => {
  node = await startNode({ hardfork: 'cancun' })
  world = await buildAmmWorld(node)
  user = await newTrader(node, 1)
  other = await newTrader(node, 2)
  const { ichi, usdc, weth, odd, first, second, older } = world
  for (const { address } of [user, other])
    for (const token of [usdc, weth, odd])
      await node.send(calls.mintToken(ichi.admin, token.address, address, 10n ** BigInt(token.decimals + 7)))
  await node.mine()
  pipeline = await createPipeline()
  api = await startApi({ rpcUrl: node.rpcUrl, on: pipeline })
  await api.recordFacts(factsOf(world), 1_700_000_000)
  const acts = ichiCalls(ichi)
  const { admin } = ichi
  for (const call of [
    acts.deposit(admin, first, million, 0n),
    acts.deposit(admin, second, 0n, million),
    acts.deposit(admin, older, 10n ** 21n, 10n ** 18n),
  ])
    await node.send(call)
  await node.mine()
  for (const vault of [first, second, older]) {
    const { tick } = await chainState(node, vault)
    await node.send(
      acts.rebalance(vault, ticksAround(tick, vault.pool.fee === 500 ? 10 : 60, 20, vault === first)),
    )
  }
  await node.mine()
  // Trades give them both tokens, and a rebalance around the price what to hold them in.
  for (const [vault, isSale, amount] of [
    [first, false, 100n * 10n ** 18n],
    [second, true, 40_000n * 10n ** 18n],
    [older, true, 10n ** 20n],
  ] as const)
    await node.send(acts.trade(admin, vault.pool, isSale, amount))
  await node.mine()
  for (const vault of [first, second]) {
    const { tick } = await chainState(node, vault)
    await node.send(acts.rebalance(vault, ticksAround(tick, 60, 20, vault === first)))
  }
  await node.mine()
  await settle()
}, 240_000)
afterAll(async () => {
  await api?.stop()
  await pipeline?.drop()
  await node?.stop()
})

test("what is shown is what contracts and Uniswap's own SDK say, in either order of tokens", async () => {
  const { ichi, users, first, second, older, strangers } = world
  // The oracle of one pool has a single observation: after a trade it does not reach back for an hour.
  const acts = ichiCalls(ichi)
  await node.send(acts.trade(ichi.admin, older.pool, false, 10n ** 17n))
  await node.mine()
  const { tick } = await chainState(node, older)
  await node.send(acts.rebalance(older, ticksAround(tick, 10, 20, true)))
  await node.mine()
  await catchUp()
  let values = 0
  for (const vault of [first, second, older, strangers])
    values += await compareVault(stage(), vault, [ichi.admin, ...users.slice(0, 2)])
  expect(values).toBeGreaterThan(60)
  expect(await shown(stage(), older, user.address)).toMatchObject({
    price: 'spot',
    warnings: expect.arrayContaining([expect.stringMatching(/price of the moment/)]),
  })
})

test('who vouches decides where a vault is shown, and a price that nobody knows is none', async () => {
  const { ichi, usdc, first, second, older, strangers } = world
  const { vaults, headers } = await listed()
  expect(vaults).toEqual([first.address, second.address])
  expect(headers).toMatchObject({ 'x-unlisted-left-out': '2', 'x-credits-used': '7' })
  const all = await listed({ allowUnlisted: 'true' })
  expect([...all.vaults].sort()).toEqual([first, second, older, strangers].map(of => of.address).sort())
  const [priced, half] = [await shown(stage(), first, ichi.admin), await shown(stage(), second, ichi.admin)]
  expect([priced.standing, half.standing]).toEqual(['made', 'made'])
  const { amounts } = await worthAt(node, first, (await readAt(stage(), first))?.block ?? 0)
  const usd = Number(amounts[0]) / 1e6 + (Number(amounts[1]) / 1e18) * 3_000
  expect(Number(priced.tvl.usd) / usd).toBeCloseTo(1, 9)
  // Its other token's price is the word of the pool alone.
  expect(half.tvl).toMatchObject({ usd: '', native: expect.stringMatching(/^\d{6,}$/) })
  expect(half.userValue?.usd).toBe('')
  expect(half.warnings).toContainEqual(expect.stringMatching(/no price for ODD/))
  expect((await shown(stage(), strangers, ichi.admin)).warnings[0]).toMatch(/Nobody vouches/)
  expect((await listed({ allowedAssets: 'odd' })).vaults).toEqual([second.address])
  expect((await listed({ disallowedAssets: 'WETH' })).vaults).toEqual([second.address])
  expect((await listed({ allowedAssets: usdc.address, sortOrder: 'asc' })).vaults).toEqual([
    first.address,
    second.address,
  ])
  expect((await listed({ allowedNetworks: 'base' })).vaults).toEqual([])
  expect((await listed({ perPage: '1', page: '1' })).vaults).toEqual([second.address])
  expect((await listed({ allowedAssets: 'nosuch' })).errors.unsupportedAssets).toEqual(['nosuch'])
  const missing = await ask({ api }, `positions/${user.address}/mainnet/${usdc.address}`)
  expect([missing.status, missing.body.message]).toEqual([
    404,
    expect.stringMatching(/no vault of liquidity/),
  ])
})

test('a token that a vault does not take is refused by its name, with the one that it takes', async () => {
  const { usdc, weth, odd, first, second } = world
  const refusal = async (vault: IchiVault, query: Record<string, string>) => {
    const { status, body } = await bundle('deposit', user, vault, query)
    return `${status} ${body.message}`
  }
  const one = { amount0: '1000000' }
  expect(await refusal(first, { assetAddress0: weth.address, ...one })).toMatch(
    /^422 The vault does not take WETH \(0x.*\)\. It takes USDC \(0x/,
  )
  expect(await refusal(second, { assetAddress0: odd.address, ...one })).toMatch(/not take ODD .* takes USDC/)
  expect(await refusal(first, { assetAddress0: odd.address, ...one })).toMatch(/no token of the vault/)
  const both = { assetAddress0: usdc.address, ...one, assetAddress1: weth.address }
  expect(await refusal(first, { ...both, amount1: '5' })).toMatch(/^422 The vault does not take WETH/)
  expect(await refusal(first, both)).toMatch(/^422 assetAddress1 and amount1 belong together/)
  expect(await refusal(first, { assetAddress0: usdc.address, amount0: '0' })).toMatch(/^422 There is nothing/)
  expect(await refusal(first, { assetAddress0: usdc.address, amount0: `${10n ** 30n}` })).toMatch(
    /^422 The wallet holds 10000000000000 base units of USDC/,
  )
  expect((await bundle('withdraw', user, first, { all: 'true' })).body.message).toMatch(/nothing to do/)
  expect((await bundle('withdraw', user, first, {})).body.message).toMatch(/amount or all=true/)
  const found = await bundle('deposit', user, world.strangers, { assetAddress0: odd.address, ...one })
  expect([found.status, found.body.message]).toEqual([422, expect.stringMatching(/allowUnlisted=true/)])
})

/** What a payload of the guard insists on. */
function floorsOf(answer: { body: { actions: { tx: { to: string; data: string } }[] } }): bigint[] {
  const last = answer.body.actions.at(-1)
  const { functionName, args } = decodeFunctionData({ abi: ichiAbi, data: (last?.tx.data ?? '0x') as Hex })
  if (functionName === 'forwardDepositToICHIVault') return [args[4] as bigint]
  expect(functionName).toBe('forwardWithdrawFromICHIVault')
  return [args[4] as bigint, args[5] as bigint]
}

const simulated = (answer: {
  body: { actions: { simulation?: { tokensReceived?: Record<string, string> } }[] }
}) => answer.body.actions.at(-1)?.simulation?.tokensReceived ?? {}

test('a deposit and a withdrawal by the guard land as they were tried out, and give no less than their minima', async () => {
  const { ichi, usdc, weth, first } = world
  const wished = await bundle('deposit', user, first, {
    assetAddress0: usdc.address,
    amount0: `${million / 2n}`,
  })
  expect(wished.status, JSON.stringify(wished.body)).toBe(200)
  expect(wished.body.warnings).toBeUndefined()
  expect(wished.body.actions.at(-1).tx.to.toLowerCase()).toBe(ichi.guard)
  const [least = 0n] = floorsOf(wished)
  const told = BigInt(simulated(wished)['ICHI_Vault_LP'] ?? '0')
  expect(least).toBe((told * 995n) / 1_000n)
  expect(await send(node, user, wished.body)).toBe(true)
  expect(await balanceOf(node, first.address, user.address)).toBe(told)
  await catchUp()
  expect((await shown(stage(), first, user.address)).userBalance).toBe(`${told}`)

  const out = await bundle('withdraw', user, first, { amount: `${told / 3n}` })
  expect(out.status, JSON.stringify(out.body)).toBe(200)
  const floors = floorsOf(out)
  const gives = simulated(out)
  expect(floors).toEqual(['USDC', 'WETH'].map(symbol => (BigInt(gives[symbol] ?? '0') * 995n) / 1_000n))
  const before = await Promise.all([usdc, weth].map(of => balanceOf(node, of.address, user.address)))
  expect(await send(node, user, out.body)).toBe(true)
  const after = await Promise.all([usdc, weth].map(of => balanceOf(node, of.address, user.address)))
  expect(after.map((of, i) => of - (before[i] ?? 0n))).toEqual([
    BigInt(gives['USDC'] ?? '0'),
    BigInt(gives['WETH'] ?? '0'),
  ])
  expect(await compareAll()).toBeGreaterThan(10)
})

async function compareAll(): Promise<number> {
  await catchUp()
  let values = 0
  for (const vault of [world.first, world.second, world.older])
    values += await compareVault(stage(), vault, [world.ichi.admin, user.address])
  return values
}

test('a trade pushed in before: the bundle reverts and nothing is lost, and a block later it is accepted', async () => {
  const { ichi, usdc, first } = world
  await settle()
  const acts = ichiCalls(ichi)
  const wish = { assetAddress0: usdc.address, amount0: `${million / 10n}` }
  const [inward, outward] = [
    await bundle('deposit', other, first, wish),
    await bundle('withdraw', user, first, { all: 'true' }),
  ]
  const [shares, tokens] = [
    await balanceOf(node, first.address, user.address),
    await balanceOf(node, usdc.address, other.address),
  ]
  const push = () => node.send(acts.trade(ichi.admin, first.pool, false, 60n * 10n ** 18n))
  await push()
  expect(await send(node, other, inward.body)).toBe(false)
  expect(await balanceOf(node, usdc.address, other.address)).toBe(tokens)
  await push()
  expect(await send(node, user, outward.body)).toBe(false)
  expect(await balanceOf(node, first.address, user.address)).toBe(shares)
  // Tried out on the block of that trade it would fail, and the answer says why; a block later it does not.
  const soon = await bundle('deposit', other, first, wish)
  expect([soon.status, soon.body.message]).toEqual([
    422,
    expect.stringMatching(/traded in this very block.*try again/),
  ])
  await node.mine()
  const again = await bundle('deposit', other, first, wish)
  expect(again.status, JSON.stringify(again.body)).toBe(200)
  expect(floorsOf(again)[0]).toBeLessThan(floorsOf(inward)[0] ?? 0n)
  expect(await send(node, other, again.body)).toBe(true)
  const out = await bundle('withdraw', user, first, { all: 'true' })
  expect(await send(node, user, out.body)).toBe(true)
  expect(await balanceOf(node, first.address, user.address)).toBe(0n)
  await compareAll()
})

test('the value that is shown does not move with a trade in the block in which it is read', async () => {
  const { ichi, first, second } = world
  await settle()
  const { timestamp } = await node.head()
  await settle(HOUR)
  const acts = ichiCalls(ichi)
  for (const [vault, isSale, amount] of [
    [first, false, 150n * 10n ** 18n],
    [second, true, 60_000n * 10n ** 18n],
  ] as const) {
    await settle(HOUR)
    const before = await shown(stage(), vault, ichi.admin)
    const head = await node.head()
    const next = (Math.floor(head.timestamp / HOUR) + 1) * HOUR
    await node.send(acts.trade(ichi.admin, vault.pool, isSale, amount))
    const { number } = await node.mine(next + 2)
    await catchUp()
    const after = await shown(stage(), vault, ichi.admin)
    const read = await worthAt(node, vault, number)
    expect((await readAt(stage(), vault))?.block).toBe(number)
    expect(after.asset0.balanceInVault).not.toBe(before.asset0.balanceInVault)
    expect(after.tvl).toEqual(before.tvl)
    // By what it holds at that moment it would have.
    const moved = Math.abs(Number(read.asHeld) / Number(read.value) - 1)
    expect(moved).toBeGreaterThan(0.0005)
    // A block later a trade of before is 12 of 3,600 seconds of the mean.
    const price = (of: bigint) => (Number(of) / 2 ** 96) ** 2
    const pushed = Math.abs(price(read.sqrtPriceX96) / price(rootAt(read.meanTick ?? 0)) - 1)
    const later = await node.mine()
    await node.send(acts.collect(ichi.admin, vault))
    const poked = await node.mine()
    const settled = await worthAt(node, vault, poked.number)
    const drift = Math.abs(Number(settled.value) / Number(read.value) - 1)
    expect(later.number).toBeLessThan(poked.number)
    expect(drift).toBeLessThan(0.02 * pushed + 0.002)
  }
  expect(timestamp).toBeGreaterThan(0)
})

test('a full exit pays what is shown', async () => {
  const { ichi, first } = world
  const acts = ichiCalls(ichi)
  await node.send(acts.collect(ichi.admin, first))
  await node.mine()
  await settle(3 * HOUR)
  const before = await shown(stage(), first, ichi.admin)
  const block = (await readAt(stage(), first))?.block ?? 0
  const { meanTick = 0, tick } = await worthAt(node, first, block)
  expect(meanTick).toBe(tick)
  const undo = await node.snapshot()
  const paid: [bigint, bigint] = [0n, 0n]
  const holders = [ichi.admin, ...world.users, user.address, other.address]
  for (const holder of holders) {
    const shares = await balanceOf(node, first.address, holder)
    if (shares === 0n) continue
    const tokens = [first.pool.token0, first.pool.token1] as const
    const had = await Promise.all(tokens.map(of => balanceOf(node, of.address, holder)))
    await node.rpc('anvil_impersonateAccount', [holder])
    await node.send(acts.withdraw(holder, first, shares))
    await node.mine()
    const has = await Promise.all(tokens.map(of => balanceOf(node, of.address, holder)))
    for (const i of [0, 1] as const) paid[i] += (has[i] ?? 0n) - (had[i] ?? 0n)
  }
  expect((await chainState(node, first)).supply).toBe(0n)
  const root = rootAt(meanTick)
  const worth = paid[0] + (paid[1] * 2n ** 192n) / (root * root)
  expect(Math.abs(Number(worth) / Number(before.tvl.native) - 1)).toBeLessThan(1e-4)
  await undo()
})

test('without a guard a bundle says so, takes both tokens at once, and lands', async () => {
  const { odd, weth, older } = world
  const both = {
    assetAddress0: weth.address,
    amount0: `${10n ** 17n}`,
    assetAddress1: odd.address,
    amount1: `${10n ** 20n}`,
    allowUnlisted: 'true',
  }
  // One observation alone, of the last trade: an hour later it reaches back.
  await settle(3 * HOUR)
  const wished = await bundle('deposit', user, older, both)
  expect(wished.status, JSON.stringify(wished.body)).toBe(200)
  expect(wished.body.actions.map(({ name }: { name: string }) => name)).toEqual([
    'approve',
    'approve',
    'deposit',
  ])
  expect(wished.body.actions.at(-1).tx.to.toLowerCase()).toBe(older.address)
  expect(wished.body.warnings).toContainEqual(expect.stringMatching(/No guard/))
  expect(await send(node, user, wished.body)).toBe(true)
  const out = await bundle('withdraw', user, older, { all: 'true' })
  expect(out.body.warnings).toContainEqual(expect.stringMatching(/No guard/))
  const gives = simulated(out)
  const before = await balanceOf(node, odd.address, user.address)
  expect(await send(node, user, out.body)).toBe(true)
  expect((await balanceOf(node, odd.address, user.address)) - before).toBe(BigInt(gives['ODD'] ?? '0'))
  expect(await compareAll()).toBeGreaterThan(10)
})

test('what a vault refuses is said in words: too much at once, and a few shares left behind', async () => {
  const { ichi, usdc, second } = world
  const acts = ichiCalls(ichi)
  await node.send(acts.limit(second, 0n, 1_000n))
  await node.mine()
  const large = await bundle('deposit', user, second, { assetAddress0: usdc.address, amount0: '1001' })
  expect([large.status, large.body.message]).toEqual([
    422,
    expect.stringMatching(/less than that in one deposit/),
  ])
  await node.send(acts.limit(second, 0n, 2n ** 255n))
  // The whole supply in one hand, less five hundred shares.
  const supply = await balanceOf(node, second.address, ichi.admin)
  await node.send(calls.transfer(ichi.admin, second.address, user.address, supply))
  await node.mine()
  const few = await bundle('withdraw', user, second, { amount: `${supply - 500n}` })
  expect([few.status, few.body.message]).toEqual([422, expect.stringMatching(/so few shares would be left/)])
  const all = await bundle('withdraw', user, second, { all: 'true' })
  expect(all.status, JSON.stringify(all.body)).toBe(200)
  await node.send(calls.transfer(user.address, second.address, ichi.admin, supply))
  await node.mine()
})

test('apr is what a share grew by between the readings at both ends of a window, whatever holes it has', async () => {
  const { ichi, first, strangers } = world
  const acts = ichiCalls(ichi)
  const expected = async (days: number) => {
    const { timestamp } = await node.head()
    const now = await readAt(stage(), first)
    const then = await readAt(stage(), first, timestamp - days * DAY)
    if (!now || !then) return undefined
    const [a, b] = [await worthAt(node, first, then.block), await worthAt(node, first, now.block)]
    const growth = (Number(b.value) / Number(b.supply)) * (Number(a.supply) / Number(a.value))
    return ((growth - 1) * 365 * DAY) / (now.at - then.at)
  }
  expect((await shown(stage(), first, ichi.admin)).apr).toEqual({ '7day': 0, '30day': 0 })
  // Trades there and back earn fees.
  const earn = async () => {
    for (const isSale of [true, false, true, false])
      await node.send(
        acts.trade(ichi.admin, first.pool, isSale, isSale ? 100_000n * 10n ** 6n : 33n * 10n ** 18n),
      )
    await node.send(acts.collect(ichi.admin, first))
    await node.mine()
  }
  await earn()
  // A hole of five days, and then the seventh.
  await settle(2 * DAY)
  await settle(6 * DAY)
  const week = await expected(7)
  expect(week).toBeDefined()
  const afterWeek = await shown(stage(), first, ichi.admin)
  expect(afterWeek.apr['7day']).toBeCloseTo(week ?? 0, 9)
  expect(week).not.toBe(0)
  // The longer window is not filled: it has the figure of the other.
  expect(afterWeek.apr['30day']).toBe(afterWeek.apr['7day'])
  await earn()
  await settle(14 * DAY)
  await settle(9 * DAY)
  const both = await shown(stage(), first, ichi.admin)
  expect(both.apr['30day']).toBeCloseTo((await expected(30)) ?? Number.NaN, 9)
  expect(both.apr['30day']).not.toBe(both.apr['7day'])
  const never = await shown(stage(), strangers, ichi.admin)
  expect(never.apr).toEqual({ '7day': 0, '30day': 0 })
  expect(never.warnings).toContainEqual(expect.stringMatching(/apr is unknown and not 0/))
  expect((await listed({ sortBy: 'apr7day' })).vaults).toContain(first.address)
})
