import { afterAll, beforeAll, expect, test } from 'vitest'
import { calls } from '../chain/deploy.ts'
import { createVault, ichiCalls } from '../chain/ichi.ts'
import { type Node, startNode } from '../chain/node.ts'
import { createPipeline, differencesFromChain, type Pipeline } from '../pipeline.ts'
import { storedEvents } from '../stored-events.ts'
import {
  type AmmWorld,
  balanceOf,
  buildAmmWorld,
  chainState,
  contractsOf,
  HOUR,
  type IchiVault,
  ticksAround,
} from './world.ts'

/** What vaults of liquidity do on Uniswap's own pools, as events: discovery, state at the ends of blocks, and what they add up to. */

let node: Node
let world: AmmWorld
let pipeline: Pipeline
const index = async () =>
  pipeline.indexTo((await node.head()).number, { rpcUrl: node.rpcUrl, contracts: contractsOf(world) })
const events: ReturnType<typeof storedEvents> = (...asked) => storedEvents(pipeline.postgres.pool)(...asked)

beforeAll(async () => {
  node = await startNode({ hardfork: 'cancun' })
  world = await buildAmmWorld(node)
  pipeline = await createPipeline()
}, 180_000)
afterAll(async () => {
  await pipeline?.drop()
  await node?.stop()
})

test('vaults are found by their factories, with their tokens in the order of the pool, whatever order they were asked for in', async () => {
  await index()
  const { ichi, users, first, second, older, strangers } = world
  for (const [of, creator, takes] of [
    [first, ichi.admin, [true, false]],
    [second, ichi.admin, [false, true]],
    [older, ichi.admin, [true, true]],
    [strangers, users[0], [true, false]],
  ] as const) {
    const factory = of === older ? ichi.olderFactory : ichi.factory
    const made = (await events('AmmVaultCreated', factory)).filter(({ data }) => data.vault === of.address)
    expect(made).toMatchObject([{ data: { creator } }])
    const { pool } = of
    expect(await events('AmmVaultDescribed', of.address)).toMatchObject([
      {
        data: {
          pool: pool.address,
          token0: pool.token0.address,
          token1: pool.token1.address,
          takesToken0: takes[0],
          takesToken1: takes[1],
          decimals: 18,
        },
      },
    ])
    for (const { address } of [pool.token0, pool.token1])
      expect(await events('AssetDescribed', address)).toHaveLength(1)
  }
})

/** Every sample is what the contracts said at its block. */
async function expectSamples(of: IchiVault): Promise<number> {
  const samples = await events('AmmVaultSampled', of.address)
  for (const { block, data } of samples) {
    const state = await chainState(node, of, block)
    const { base, limit } = state
    expect(data).toEqual({
      total0: state.total0,
      total1: state.total1,
      supply: state.supply,
      sqrtPriceX96: state.sqrtPriceX96,
      twapPeriod: state.twapPeriod,
      ...(state.meanTick === undefined ? {} : { meanTick: state.meanTick }),
      baseLiquidity: base.liquidity,
      baseLower: base.lower,
      baseUpper: base.upper,
      limitLiquidity: limit.liquidity,
      limitLower: limit.lower,
      limitUpper: limit.upper,
    })
  }
  return samples.length
}

test('deposits, trades, rebalances and withdrawals: samples are what the contracts said, and the logs add up to them', async () => {
  const { ichi, users, weth, odd, first, second, older } = world
  const [user = '0x', other = '0x'] = users
  const acts = ichiCalls(ichi)
  const million = 10n ** 12n
  const batches = [
    [acts.deposit(user, first, million, 0n), acts.deposit(other, second, 0n, million)],
    [acts.deposit(user, older, 10n ** 21n, 10n ** 18n), acts.deposit(other, first, million / 3n, 0n)],
  ]
  for (const batch of batches) {
    for (const call of batch) await node.send(call)
    await node.mine()
  }
  for (const [vault, isAbove] of [
    [first, true],
    [second, false],
    [older, true],
  ] as const) {
    const { tick } = await chainState(node, vault)
    const spacing = vault.pool.fee === 500 ? 10 : 60
    await node.send(acts.rebalance(vault, ticksAround(tick, spacing, 40, isAbove)))
  }
  await node.mine()
  for (const [pool, isSale, amount] of [
    [first.pool, false, 50n * 10n ** 18n],
    [second.pool, true, 20_000n * 10n ** 18n],
    [older.pool, true, 10n ** 22n],
  ] as const)
    await node.send(acts.trade(user, pool, isSale, amount))
  await node.mine()
  await node.mineEmpty(2)
  const shares = await balanceOf(node, first.address, user)
  await node.send(acts.withdraw(user, first, shares / 3n))
  await node.send(calls.transfer(user, first.address, other, shares / 5n))
  await node.send(acts.collect(other, second))
  await node.mine()
  await index()
  const { timestamp } = await node.head()
  await node.mine(timestamp + HOUR)
  await index()
  const before = (await events('AmmVaultSampled', first.address)).length
  expect(before).toBeGreaterThan(4)
  expect(await expectSamples(first)).toBe(before)
  expect(await expectSamples(second)).toBeGreaterThan(3)
  expect(await expectSamples(older)).toBeGreaterThan(2)
  const reaches = async (of: IchiVault) =>
    (await events('AmmVaultSampled', of.address)).map(({ data }) => data.meanTick !== undefined)
  // When it was made the pool was younger than the time that it looks back.
  const [whenMade, ...later] = await reaches(first)
  expect([whenMade, new Set(later)]).toEqual([false, new Set([true])])
  // One observation alone, which the trade replaced.
  expect(await reaches(older)).toContain(false)
  const sum = (values: bigint[]) => values.reduce((a, b) => a + b, 0n)
  for (const of of [first, second, older]) {
    const moved = await events('AmmShareTransferred', of.address)
    for (const holder of [user, other]) {
      const held =
        sum(moved.map(({ data }) => (data.to === holder ? data.shares : 0n))) -
        sum(moved.map(({ data }) => (data.from === holder ? data.shares : 0n)))
      expect(held).toBe(await balanceOf(node, of.address, holder))
    }
    const deposited = await events('AmmDeposited', of.address)
    const withdrawn = await events('AmmWithdrawn', of.address)
    const { supply } = await chainState(node, of)
    expect(
      sum(deposited.map(({ data }) => data.shares)) - sum(withdrawn.map(({ data }) => data.shares)),
    ).toBe(supply)
  }
  const rebalanced = await events('AmmRebalanced', second.address)
  expect(rebalanced).toMatchObject([{ data: { total1: million, total0: 0n, fee0: 0n, fee1: 0n } }])
  const collected = await events('AmmFeesCollected', second.address)
  expect(collected.length).toBe(1)
  // Gross: a tenth of it went to the protocol.
  const [ofFirst] = await events('AmmFeesCollected', first.address)
  for (const [token, gross = 0n] of [
    [weth, ofFirst?.data.fee1],
    [odd, collected[0]?.data.fee0],
  ] as const) {
    expect(gross).toBeGreaterThan(0n)
    expect(await balanceOf(node, token.address, ichi.feeReceiver)).toBe(gross / 10n)
  }
  for (const token of [weth, odd]) expect(await events('AssetDescribed', token.address)).toHaveLength(1)
  expect(
    await differencesFromChain(
      pipeline.postgres.pool,
      node.rpcUrl,
      (await node.head()).number,
      contractsOf(world),
    ),
  ).toEqual([])
})

test('a vault is looked at every hour, and not for a trade of its pool', async () => {
  const { ichi, users, first } = world
  const [user = '0x'] = users
  const { timestamp } = await node.head()
  const next = (Math.floor(timestamp / HOUR) + 1) * HOUR
  const atHour = await node.mine(next + 1)
  await node.send(ichiCalls(ichi).trade(user, first.pool, true, 10n ** 9n))
  const traded = await node.mine()
  const nextHour = await node.mine(next + HOUR + 1)
  await index()
  const sampled = new Set((await events('AmmVaultSampled', first.address)).map(({ block }) => block))
  expect([atHour, traded, nextHour].map(({ number }) => sampled.has(number))).toEqual([true, false, true])
})

test('a fork that takes a vault back takes it from what is watched', async () => {
  await node.mineEmpty(2)
  const { ichi, users, first, weth } = world
  const [, , user = '0x'] = users
  const made = await createVault(node, {
    factory: ichi.factory,
    pool: first.pool,
    takes: [weth],
    owner: user,
  })
  await index()
  expect(await events('AmmVaultDescribed', made.address)).toHaveLength(1)
  await node.reorg(2)
  await node.mineEmpty(3)
  await index()
  expect(await events('AmmVaultDescribed', made.address)).toEqual([])
  const { rows } = await pipeline.postgres.pool.query('SELECT 1 FROM watched_source WHERE contract = $1', [
    made.address,
  ])
  expect(rows).toEqual([])
})
