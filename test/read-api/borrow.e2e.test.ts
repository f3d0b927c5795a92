import request from 'supertest'
import { type Address, encodeFunctionData, type Hex, type LocalAccount } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { keyCodeOf } from '../../db/attribution.ts'
import { networks } from '../../db/networks.ts'
import { runChain } from '../../processors/chain-processor.ts'
import { loadProtocols } from '../../processors/load-protocols.ts'
import {
  BorrowAssetPosition,
  BorrowContext,
  BorrowEvents,
  BorrowPosition,
  Market,
  MarketPoint,
} from '../../read-api/lending/schemas.ts'
import { BundleShape } from '../../read-api/transactions/schemas.ts'
import { aaveAbi } from '../chain/abis.ts'
import { type CometMarket, cometCalls, deployComet } from '../chain/comet.ts'
import { calls, deposit } from '../chain/deploy.ts'
import { deployEvk, type EvkMarket, evkAbi, evkCalls } from '../chain/evk.ts'
import { configure, viewAbi } from '../chain/lending-walk.ts'
import { type Node, startNode } from '../chain/node.ts'
import { buildWorld, type World } from '../chain/world.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { openStage, type Stage } from './transactions/stage.ts'

/** Over HTTP: context, actionsUrl, bundle, signed and sent, indexed, and read back as events and positions. */

const DAY = 86_400
let node: Node
let world: World
let api: ApiHarness
let stage: Stage
let user: LocalAccount
let keyCode: string
let comet: CometMarket
let evk: EvkMarket
let processor: Awaited<ReturnType<typeof startProcessor>>

beforeAll(async () => {
  node = await startNode()
  world = await buildWorld(node)
  api = await startApi({ rpcUrl: node.rpcUrl })
  const { WETH, USDC } = world.assets
  await api.recordFacts(
    [WETH, USDC].map(({ token, feed }) => ({
      subject: `asset:1:${token.address}`,
      kind: 'feed',
      value: { feed: feed.proxy, decimals: feed.decimals },
    })),
    1,
  )
  stage = await openStage(node)
  user = await stage.newUser()
  keyCode = (await api.deps.verifyKey(api.apiKey))?.code ?? ''
  await stage.mint(WETH.token, user.address, 10n ** 19n)
  await stage.mint(USDC.token, user.address, 1_000_000_000n)
  // Vaults are found by their events, and their assets with them.
  for (const vault of [world.vaults.usdc, world.vaults.weth])
    await deposit(node, { vault, user: world.actors.whale, assets: 10n ** 6n })
  // In eMode both assets of the user count otherwise.
  const { admin } = world.actors
  const none = `0x${'0'.repeat(40)}`
  await node.send(configure(world, admin, 'setEModeCategory', [1, 9000, 9300, 10_200, none, 'all']))
  for (const { token } of [WETH, USDC])
    await node.send(configure(world, admin, 'setAssetEModeCategory', [token.address, 1]))
  await node.mine()
  const enter = encodeFunctionData({ abi: viewAbi, functionName: 'setUserEMode', args: [1] })
  await stage.sign(user, { to: world.aave.pool, chainId: 1, data: enter })
  comet = await deployComet(node, USDC, [{ ...WETH, borrow: 0.8, liquidate: 0.85, liquidation: 0.93 }])
  const { whale } = world.actors
  await node.send(calls.approve(whale, USDC.token.address, comet.address))
  await node.send(cometCalls(comet.address).supply(whale, USDC.token.address, 500_000n * 10n ** 6n))
  evk = await deployEvk(node, world.anyLog, USDC, WETH)
  await node.send(calls.approve(whale, USDC.token.address, evk.lender.address))
  await node.send(evkCalls(evk).deposit(whale, evk.lender.address, 500_000n * 10n ** 6n))
  await node.mine()
  processor = await startProcessor()
  await index()
}, 120_000)
afterAll(async () => {
  await processor?.stop()
  await api?.stop()
  await node?.stop()
})

/** A processor that follows the node. */
async function startProcessor() {
  const stop = new AbortController()
  const done = runChain({
    network: networks.mainnet,
    protocols: await loadProtocols(),
    pool: api.pool,
    rpcUrls: [node.rpcUrl],
    pollInterval: 50,
    signal: stop.signal,
    contracts: {
      'morpho-blue': [world.morpho.address],
      'aave-v3-pool': [world.aave.pool],
      'aave-v3-configurator': [world.aave.configurator],
      'compound-v3-configurator': [comet.configurator],
      'euler-evk-factory': [evk.factory],
      'euler-evc': [evk.connector],
      'chainlink-feed': Object.values(world.assets).map(({ feed }) => feed.proxy),
    },
  })
  let failure: unknown
  done.catch(error => {
    failure = error
  })
  return {
    async reached(block: number) {
      for (;;) {
        const { rows } = await api.pool.query<{ head_height: number }>(
          'SELECT head_height FROM stream WHERE id = 1',
        )
        if ((rows[0]?.head_height ?? -1) >= block) return
        if (failure) throw failure
        await new Promise(resolve => setTimeout(resolve, 20))
      }
    },
    async stop() {
      stop.abort()
      await done
    },
  }
}

/** Everything up to the node's head, and a block more, is in the store and in the projections. */
async function index() {
  const { number } = await node.mine()
  await processor.reached(number)
  await api.catchUp()
}

async function get<S extends z.ZodType>(path: string, schema: S): Promise<z.output<S>> {
  const answer = await request(api.app).get(path).set('x-api-key', api.apiKey)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return schema.parse(answer.body)
}

/** Takes the bundle of a context's actionsUrl, waits, signs and sends what is left of it; gives the act's own hash. */
async function follow(url: string | undefined, query: string, after = 0): Promise<Hex> {
  const { actions, currentActionIndex } = await get(`${url}?${query}`, BundleShape)
  if (after > 0) await stage.wait(after)
  let act: Hex = '0x'
  for (const { name, tx } of actions.slice(currentActionIndex)) {
    const sent = await stage.sign(user, { ...tx, to: tx.to as Address, data: (tx.data ?? '0x') as Hex })
    expect(sent.landed, name).toBe(true)
    expect(keyCodeOf(sent.input)).toBe(keyCode)
    if (url?.split('/').includes(name)) act = sent.hash
  }
  return act
}

interface Place {
  market: string
  loan: string
  collateral: string
  /** Lent or owed, never both. */
  isSigned?: boolean
}
const context = ({ market }: Place, asset: string) =>
  get(`/beta/borrow/markets/transactions/context/${user.address}/mainnet/${market}/${asset}`, BorrowContext)
const eventsOf = async ({ market }: Place, asset: string) =>
  (await get(`/beta/borrow/portfolio/events/${user.address}/mainnet/${market}/${asset}`, BorrowEvents)).data
const positionIn = ({ market }: Place) =>
  get(`/beta/borrow/portfolio/positions/${user.address}/mainnet/${market}`, BorrowPosition)
const marketsOwed = async () => {
  const shape = z.object({ data: z.array(BorrowPosition) })
  const { data } = await get(`/beta/borrow/portfolio/positions/${user.address}`, shape)
  return data.map(({ marketId }) => marketId.toLowerCase()).sort()
}
const wallet = () => stage.balance(world.assets.USDC.token.address, user.address)

test('what was signed and sent comes back as events and positions', { timeout: 300_000 }, async () => {
  const { USDC, WETH } = world.assets
  const places: Place[] = [
    { market: world.aave.pool, loan: USDC.token.address, collateral: WETH.token.address },
    { market: comet.address, loan: USDC.token.address, collateral: WETH.token.address, isSigned: true },
    {
      market: world.morpho.markets[0]?.id ?? '',
      loan: `${USDC.token.address}-loan`,
      collateral: `${WETH.token.address}-collateral`,
    },
    {
      market: `${evk.lender.address}-${evk.collateral.address}`,
      loan: `${evk.lender.address}-loan`,
      collateral: `${evk.collateral.address}-collateral`,
    },
  ]
  const told = new Map(places.map(place => [place, { loan: [] as string[][], collateral: [] as string[][] }]))

  for (const place of places) {
    const { loan, collateral } = told.get(place) ?? {}
    const weth = 10n ** 18n
    const supplied = await follow(
      (await context(place, place.collateral)).supplySteps[0]?.actionsUrl,
      `amount=${weth}`,
    )
    collateral?.push(['supply', String(weth), supplied])
    if (place.isSigned) continue
    const lent = await follow(
      (await context(place, place.loan)).supplySteps[0]?.actionsUrl,
      'amount=40000000',
    )
    loan?.push(['supply', '40000000', lent])
  }
  await index()
  // Without debt: read by market, not in the list of the wallet.
  for (const place of places) {
    const { ltv, healthFactor, assets } = await positionIn(place)
    expect([ltv, healthFactor, assets.length]).toEqual([0, null, place.isSigned ? 1 : 2])
  }
  expect(await marketsOwed()).toEqual([])

  for (const place of places) {
    const { loan } = told.get(place) ?? {}
    const borrowed = await follow(
      (await context(place, place.loan)).borrowSteps[0]?.actionsUrl,
      'amount=500000000',
    )
    loan?.push(['borrow', '500000000', borrowed])
  }
  await stage.wait(20 * DAY)
  // A feed that is silent for days has no price.
  for (const { feed, startPrice } of [USDC, WETH])
    await node.send(calls.reportPrice(world.actors.admin, feed, startPrice))
  for (const place of places) {
    const { loan } = told.get(place) ?? {}
    const repaid = await follow(
      (await context(place, place.loan)).repaySteps[0]?.actionsUrl,
      'amount=100000000',
    )
    loan?.push(['repay', '100000000', repaid])
  }
  await index()
  expect(await marketsOwed()).toEqual(places.map(({ market }) => market.toLowerCase()).sort())
  for (const place of places) {
    const { market, loan } = place
    const { balances } = await context(place, loan)
    const path = `/beta/borrow/portfolio/positions/${user.address}/mainnet/${market}/${loan}`
    const { asset } = await get(path, BorrowAssetPosition)
    expect([asset.suppliedNative, asset.borrowedNative]).toEqual([balances.supplied, balances.borrowed])
    const nrt = `/beta/borrow/markets/nrt/mainnet/${market}/${loan}`
    const now = await get(nrt, MarketPoint)
    const { headers } = await request(api.app).get(nrt).set('x-api-key', api.apiKey)
    expect(headers['x-as-of-block']).toBe(`mainnet=${now.blockNumber}`)
    const { assetsData } = await get(`/beta/borrow/markets/mainnet/${market}`, Market)
    const indexed = assetsData.find(({ marketAssetId }) => marketAssetId.toLowerCase() === loan)
    expect([indexed?.totalSupplied.native, indexed?.totalBorrowed.native]).toEqual([
      now.totalSupplied.native,
      now.totalBorrowed.native,
    ])
    expect(now.totalSupplied.usd).toBeCloseTo(Number(now.totalSupplied.native) / 1e6, 3)
  }

  // One debt in eMode, at the pool's own figures of the block that the index is at.
  const [pool] = places
  if (!pool) throw new Error('no pool')
  const { ltv, healthFactor, assets } = await positionIn(pool)
  expect(assets.filter(({ borrowedNative }) => borrowedNative !== '0')).toHaveLength(1)
  const [collateralBase, debtBase, , threshold, , health] = await node.client.readContract({
    address: world.aave.pool,
    abi: aaveAbi,
    functionName: 'getUserAccountData',
    args: [user.address],
    blockNumber: BigInt(api.catalogue.current().chain(1)?.blockNumber ?? 0),
  })
  expect(threshold).toBe(9300n)
  expect(ltv).toBeCloseTo(Number(debtBase) / Number(collateralBase), 12)
  expect(healthFactor).toBeCloseTo(Number(health) / 1e18, 12)

  // The pair of Euler vaults, at what the vault that lends weighs itself.
  const pair = await positionIn(places[3] ?? pool)
  const weigh = async (bps: number) => {
    const [covered, owes] = await node.client.readContract({
      address: evk.lender.address,
      abi: evkAbi,
      functionName: 'accountLiquidity',
      args: [user.address, true],
      blockNumber: BigInt(api.catalogue.current().chain(1)?.blockNumber ?? 0),
    })
    return [(Number(owes) / Number(covered)) * (bps / 10_000), Number(covered) / Number(owes)]
  }
  const [evkLtv = 0, evkHealth = 0] = await weigh(8_500)
  expect(pair.ltv).toBeCloseTo(evkLtv, 12)
  expect(pair.healthFactor).toBeCloseTo(evkHealth, 12)
  const told85 = (await get(`/beta/borrow/markets/mainnet/${places[3]?.market}`, Market)).assetsData
  expect(told85[1]?.defaultRiskParameters).toEqual({
    maxLtv: 0.8,
    liquidationThreshold: 0.85,
    liquidationPenalty: expect.closeTo(0.15 / 0.85, 12),
  })

  for (const place of places) {
    const { loan, collateral } = told.get(place) ?? {}
    const atFirst = await wallet()
    const closed = await follow(
      (await context(place, place.loan)).repaySteps[0]?.actionsUrl,
      'all=true',
      2 * DAY,
    )
    const afterwards = await wallet()
    loan?.push(['repay', String(atFirst - afterwards), closed])
    if (!place.isSigned) {
      const out = await follow(
        (await context(place, place.loan)).withdrawSteps[0]?.actionsUrl,
        'all=true',
        2 * DAY,
      )
      loan?.push(['withdraw', String((await wallet()) - afterwards), out])
    }
    const held = await stage.balance(WETH.token.address, user.address)
    const home = await follow(
      (await context(place, place.collateral)).withdrawSteps[0]?.actionsUrl,
      'all=true',
    )
    const back = (await stage.balance(WETH.token.address, user.address)) - held
    collateral?.push(['withdraw', String(back), home])
  }
  await index()
  for (const place of places) {
    for (const side of ['loan', 'collateral'] as const) {
      const events = await eventsOf(place, place[side])
      expect(events.map(e => [e.eventType, e.assetAmountNative, e.transactionHash])).toEqual(
        told.get(place)?.[side],
      )
    }
    const { ltv, healthFactor, assets } = await positionIn(place)
    expect([ltv, healthFactor, assets]).toEqual([0, null, []])
    const { balances } = await context(place, place.loan)
    expect([balances.supplied, balances.borrowed]).toEqual(['0', '0'])
  }
  expect(await marketsOwed()).toEqual([])
})

test('what cannot be read is 400, what cannot be done is 422 with the limit', async () => {
  const { USDC, WETH } = world.assets
  const market = world.morpho.markets[0]?.id ?? ''
  const path = (action: string, asset: string) =>
    `/beta/borrow/markets/transactions/${action}/${user.address}/mainnet/${market}/${asset}`
  const loan = `${USDC.token.address}-loan`
  const collateral = `${WETH.token.address}-collateral`
  await follow(path('supply', collateral), `amount=${10n ** 18n}`)
  const refused: [string, number, RegExp][] = [
    [
      `${path('borrow', loan)}?amount=3000000000`,
      422,
      /^At most 26\d{8} base units of USDC can be borrowed now/,
    ],
    [`${path('withdraw', collateral)}?amount=${2n * 10n ** 18n}`, 422, /has supplied 1000000000000000000/],
    [`${path('borrow', collateral)}?amount=1`, 422, /It has: supply, withdraw/],
    [`${path('repay', loan)}?all=true`, 422, /owes 0/],
    [`${path('supply', loan)}?amount=1&all=true`, 422, /exclude each other/],
    [path('supply', loan), 422, /amount or all=true/],
    [`${path('supply', loan)}?amount=1.5`, 400, /base units/],
    [`${path('supply', loan)}?amount=1&slippage=1`, 400, /slippage/],
    [`${path('lend', loan)}?amount=1`, 400, /supply, withdraw, borrow, repay/],
    [`${path('supply', 'nothing')}?amount=1`, 404, /has no asset nothing/],
    [`/beta/borrow/markets/nrt/mainnet/0x${'99'.repeat(32)}/${loan}`, 404, /no lending market/],
  ]
  for (const [url, status, words] of refused) {
    const answer = await request(api.app).get(url).set('x-api-key', api.apiKey)
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(words)])
    expect(answer.headers['x-credits-used']).toBe('0')
  }
  await follow(path('withdraw', collateral), 'all=true')
})

test('what an Euler vault has switched off is shown and refused', { timeout: 120_000 }, async () => {
  const market = `${evk.lender.address}-${evk.collateral.address}`
  const isOn = async () =>
    (await get(`/beta/borrow/markets/mainnet/${market}`, Market)).assetsData[0]?.assetConfig.isBorrowEnabled
  expect(await isOn()).toBe(true)
  await stage.act(evk.lender.address, evkAbi, 'setHookedOps', 1 << 6)
  await index()
  expect(await isOn()).toBe(false)
  const url = `/beta/borrow/markets/transactions/borrow/${user.address}/mainnet/${market}/${evk.lender.address}-loan?amount=1`
  const answer = await request(api.app).get(url).set('x-api-key', api.apiKey)
  expect([answer.status, answer.body.message]).toEqual([422, expect.stringMatching(/switched borrow off/)])
})
