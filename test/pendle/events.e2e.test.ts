import { afterAll, beforeAll, expect, test } from 'vitest'
import { calls } from '../chain/deploy.ts'
import { type Node, startNode } from '../chain/node.ts'
import { createMarket, ORACLE, pendleAbi, pendleCalls, ROUTER } from '../chain/pendle.ts'
import { createPipeline, differencesFromChain, type Pipeline } from '../pipeline.ts'
import { storedEvents } from '../stored-events.ts'
import { balanceOf, buildPendleWorld, contractsOf, DAY, type PendleWorld } from './world.ts'

/** What the published contracts do, as events: discovery, state at the ends of blocks, and what they add up to. */

let node: Node
let world: PendleWorld
let pipeline: Pipeline
const index = async () =>
  pipeline.indexTo((await node.head()).number, { rpcUrl: node.rpcUrl, contracts: contractsOf(world) })

const events: ReturnType<typeof storedEvents> = (...asked) => storedEvents(pipeline.postgres.pool)(...asked)

beforeAll(async () => {
  node = await startNode({ hardfork: 'cancun' })
  world = await buildPendleWorld(node)
  pipeline = await createPipeline()
}, 120_000)
afterAll(async () => {
  await pipeline?.drop()
  await node?.stop()
})

test('markets are found by their factory, with their tokens and what these say of themselves', async () => {
  await index()
  for (const of of [world.short, world.long, world.empty]) {
    expect(await events('FixedTermTokensNamed', of.market)).toMatchObject([
      { data: { pt: of.pt.address, sy: of.sy, yt: of.yt, expiry: of.expiry } },
    ])
    const { name, symbol, decimals } = of.pt
    expect(await events('FixedTermMarketDescribed', of.market)).toMatchObject([
      { data: { name, symbol, decimals, asset: of.asset.address, yieldToken: of.vault.address } },
    ])
    expect(await events('AssetDescribed', of.asset.address)).toHaveLength(1)
  }
})

test('trades, yields and losses: every sample is what the contracts said at its block, and the logs add up to it', async () => {
  const { short, users, pendle } = world
  const [user = '0x'] = users
  const acts = pendleCalls(short)
  const unit = 10n ** 6n
  const batches = [
    [...acts.wrap(user, 10_000n * unit), ...acts.split(user, 4_000n * unit)],
    [...acts.addLiquidity(user, 2_000n * unit, 1_000n * unit)],
    [calls.mintToken(pendle.admin, short.asset.address, short.vault.address, 5_000n * unit)],
    [...acts.unite(user, 500n * unit, false)],
    [calls.burnToken(pendle.admin, short.asset.address, short.vault.address, 20_000n * unit)],
    [...acts.removeLiquidity(user, 300n * unit), calls.transfer(user, short.pt.address, pendle.admin, 77n)],
  ]
  for (const batch of batches) {
    for (const call of batch) await node.send(call)
    await node.mine()
  }
  await index()
  const samples = await events('FixedTermStateSampled', short.market)
  expect(samples.length).toBeGreaterThan(4)
  let lost = 0
  for (const { block, data } of samples) {
    const at = { abi: pendleAbi, blockNumber: BigInt(block) } as const
    const read = <T>(value: Promise<T>) => value
    const state = await read(
      node.client.readContract({ ...at, address: short.market, functionName: 'readState', args: [ROUTER] }),
    )
    expect(data).toMatchObject({
      totalPt: state.totalPt,
      totalSy: state.totalSy,
      totalLp: state.totalLp,
      lnRateWad: state.lastLnImpliedRate,
      exchangeRate: await node.client.readContract({
        ...at,
        address: short.sy,
        functionName: 'exchangeRate',
      }),
      oracleRateWad: await node.client.readContract({
        ...at,
        address: ORACLE,
        functionName: 'getPtToAssetRate',
        args: [short.market, 0],
      }),
    })
    if ((data.exchangeRate ?? 0n) < (data.pyIndex ?? 0n)) lost++
  }
  expect(lost).toBeGreaterThan(0)
  const sum = (values: bigint[]) => values.reduce((a, b) => a + b, 0n)
  const added = await events('PoolLiquidityAdded', short.market)
  const removed = await events('PoolLiquidityRemoved', short.market)
  expect(added.length).toBe(2)
  expect(removed.length).toBe(1)
  const last = samples.at(-1)?.data
  expect(sum(added.map(({ data }) => data.pt)) - sum(removed.map(({ data }) => data.pt))).toBe(last?.totalPt)
  expect(sum(added.map(({ data }) => data.sy)) - sum(removed.map(({ data }) => data.sy))).toBe(last?.totalSy)
  const moved = await events('PrincipalTransferred', short.pt.address)
  for (const holder of [user, pendle.admin, short.market]) {
    const held =
      sum(moved.map(({ data }) => (data.to === holder ? data.amount : 0n))) -
      sum(moved.map(({ data }) => (data.from === holder ? data.amount : 0n)))
    expect(held).toBe(await balanceOf(node, short.pt.address, holder))
  }
  expect(
    await differencesFromChain(
      pipeline.postgres.pool,
      node.rpcUrl,
      (await node.head()).number,
      contractsOf(world),
    ),
  ).toEqual([])
})

test('a market is looked at hourly until a week after its expiry, and not again without an event', async () => {
  const { expiry, market } = world.short
  const hours = [-3_600, 0, 3_600, 7 * DAY - 3_600, 7 * DAY + 3_600, 8 * DAY]
  const blocks = new Map<number, number>()
  for (const after of hours) blocks.set(after, (await node.mine(expiry + after + 1)).number)
  await index()
  const sampled = new Set((await events('FixedTermStateSampled', market)).map(({ block }) => block))
  expect(hours.map(after => sampled.has(blocks.get(after) ?? 0))).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
  ])
})

test('a fork that takes a market back takes it from what is watched', async () => {
  const before = await node.head()
  await node.mineEmpty(2)
  const { short } = world
  const terms = {
    sy: short.sy,
    asset: short.asset,
    expiry: Math.floor(before.timestamp / DAY) * DAY + 30 * DAY,
  }
  const made = await createMarket(node, world.pendle, terms)
  await index()
  expect(await events('FixedTermTokensNamed', made.market)).toHaveLength(1)
  await node.reorg(3)
  await node.mineEmpty(3)
  await index()
  expect(await events('FixedTermTokensNamed', made.market)).toEqual([])
  const { rows } = await pipeline.postgres.pool.query('SELECT 1 FROM watched_source WHERE contract = $1', [
    made.market,
  ])
  expect(rows).toEqual([])
})
