import request from 'supertest'
import { type Address, encodeFunctionData, type Hex, toHex, zeroAddress } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CometMarket, cometAbi, cometCalls, deployComet } from '../chain/comet.ts'
import { calls, deposit } from '../chain/deploy.ts'
import { deployEulerCore, evcAbi, evkAbi } from '../chain/evk.ts'
import { type Node, startNode } from '../chain/node.ts'
import { buildWorld, type World } from '../chain/world.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { type ApiHarness, startApi } from '../read-api/harness.ts'

/** What the published contracts of Compound v3 and Euler v2 do without a log that says so, or beside what one expects. */

let node: Node
let world: World
let pipeline: Pipeline
let api: ApiHarness
let comet: CometMarket
let evc: Address
let route: Awaited<ReturnType<typeof deployEulerCore>>['route']
const vaults = {} as Record<'lends' | 'secures' | 'closed', Address>
let alice: Address
let bob: Address
const usd = (whole: number) => BigInt(whole) * 10n ** 6n
const eth = (whole: number) => BigInt(whole) * 10n ** 18n

beforeAll(async () => {
  node = await startNode()
  world = await buildWorld(node)
  const { admin, whale, users } = world.actors
  ;[alice, bob] = users as [Address, Address]
  const { WETH, USDC } = world.assets
  comet = await deployComet(node, USDC, [{ ...WETH, borrow: 0.8, liquidate: 0.85, liquidation: 0.93 }])
  const core = await deployEulerCore(node, world.anyLog)
  evc = core.connector
  route = core.route
  vaults.lends = (await core.vault(USDC)).address
  vaults.secures = (await core.vault(WETH)).address
  vaults.closed = (await core.vault({ ...USDC, isClosed: true })).address
  for (const lender of [vaults.lends, vaults.closed])
    await send(
      admin,
      lender,
      encodeFunctionData({
        abi: evkAbi,
        functionName: 'setLTV',
        args: [vaults.secures, 8_000, 8_500, 0],
      }),
    )
  await node.mine()
  for (const user of [alice, bob, whale]) {
    await node.send(calls.mintToken(admin, WETH.token.address, user, eth(100)))
    await node.send(calls.mintToken(admin, USDC.token.address, user, usd(1_000_000)))
    for (const of of [comet.address, vaults.lends, vaults.secures])
      for (const { token } of [WETH, USDC]) await node.send(calls.approve(user, token.address, of))
  }
  await node.mine()
  await node.send(cometCalls(comet.address).supply(whale, USDC.token.address, usd(500_000)))
  await send(whale, vaults.lends, depositOf(usd(500_000), whale))
  // Assets are known by a vault that has them.
  await deposit(node, { vault: world.vaults.usdc, user: whale, assets: usd(10) })
  await deposit(node, { vault: world.vaults.weth, user: whale, assets: eth(1) })
  await node.mine()
  pipeline = await createPipeline()
  api = await startApi({ rpcUrl: node.rpcUrl, on: pipeline })
})
afterAll(async () => {
  await api?.stop()
  await pipeline?.drop()
  await node?.stop()
})

const send = (from: Address, to: Address, data: Hex) => node.send({ from, to, data, label: 'act' })
const depositOf = (assets: bigint, to: Address) =>
  encodeFunctionData({ abi: evkAbi, functionName: 'deposit', args: [assets, to] })

async function index(): Promise<number> {
  const { number } = await node.mine()
  await pipeline.indexTo(number, {
    rpcUrl: node.rpcUrl,
    contracts: {
      'compound-v3-configurator': [comet.configurator],
      'euler-evk-factory': [world.anyLog],
      'euler-evc': [evc],
      'chainlink-feed': Object.values(world.assets).map(({ feed }) => feed.proxy),
    },
  })
  await api.catchUp()
  return number
}

async function get(path: string, status = 200) {
  const answer = await request(api.app).get(path).set('x-api-key', api.apiKey)
  expect(answer.status, JSON.stringify(answer.body)).toBe(status)
  return answer.body
}
const positionOf = (user: string, market: string) =>
  get(`/beta/borrow/portfolio/positions/${user}/mainnet/${market}`)

test('a debt that moves from borrower to borrower is known with the next hour, and dust with the next act', async () => {
  const { WETH, USDC } = world.assets
  const on = cometCalls(comet.address)
  for (const user of [alice, bob]) {
    await node.send(on.supply(user, WETH.token.address, eth(20)))
    await node.send(on.withdraw(user, USDC.token.address, usd(10_000)))
  }
  await index()
  const owed = async () => {
    const of = async (user: Address) =>
      (await positionOf(user, comet.address)).assets.find(
        ({ borrowedNative }: { borrowedNative: string }) => borrowedNative !== '0',
      )?.borrowedNative
    return [await of(alice), await of(bob)]
  }
  const said = async (blockNumber: number) => {
    const of = (user: Address) =>
      node.client.readContract({
        address: comet.address,
        abi: cometAbi,
        functionName: 'borrowBalanceOf',
        args: [user],
        blockNumber: BigInt(blockNumber),
      })
    return [`${await of(alice)}`, `${await of(bob)}`]
  }
  const hash = await node.send(on.transfer(alice, bob, usd(5_000)))
  await node.mine()
  expect((await node.client.getTransactionReceipt({ hash })).logs).toEqual([])
  const { timestamp } = await node.head()
  await node.mine((Math.floor(timestamp / 3_600) + 1) * 3_600)
  const hourly = await index()
  expect(Number((await owed())[0]) / 1e6).toBeCloseTo(15_000, 0)
  expect(await owed()).toEqual(await said(hourly))
  const rows = async () =>
    pipeline.rows<{ rows: number }>(
      `SELECT toUInt32(count()) AS rows FROM event WHERE type = 'PrincipalSampled'`,
    )
  const [before] = await rows()
  // Hours in which nothing moved have nothing to tell.
  await node.mine((Math.floor(timestamp / 3_600) + 2) * 3_600)
  await index()
  expect(await rows()).toEqual([before])

  // Collateral that comes and goes has the debt read too.
  await node.send(on.transfer(alice, bob, usd(1_000)))
  await node.send(on.supply(alice, WETH.token.address, 1n))
  await node.send(on.supply(bob, WETH.token.address, 1n))
  expect(await owed()).not.toEqual(await said(await index()))
  expect(await owed()).toEqual(await said((await node.head()).number))
})

test('the drift of a Comet is what its own totals and principals differ by', async () => {
  const { USDC } = world.assets
  const { whale } = world.actors
  const on = cometCalls(comet.address)
  await node.mine((await node.head()).timestamp + 100_000)
  // Rounding takes a unit of the lender, and not of the total (CometCore.sol, repayAndSupplyAmount).
  for (let i = 0; i < 3; i++) {
    await node.send(on.supply(whale, USDC.token.address, 0n))
    await node.mine((await node.head()).timestamp + 7)
  }
  const blockNumber = BigInt(await index())
  const read = (functionName: 'userBasic' | 'totalsBasic', args: readonly Address[] = []) =>
    node.client.readContract({
      address: comet.address,
      abi: cometAbi,
      functionName,
      args,
      blockNumber,
    } as never) as Promise<unknown>
  const totals = (await read('totalsBasic')) as { totalSupplyBase: bigint; totalBorrowBase: bigint }
  let [supply, borrow] = [totals.totalSupplyBase, totals.totalBorrowBase]
  for (const user of [alice, bob, whale]) {
    const [principal] = (await read('userBasic', [user])) as [bigint]
    if (principal > 0n) supply -= principal
    else borrow += principal
  }
  expect(supply).toBeGreaterThan(0n)
  expect(
    await pipeline.rows(
      'SELECT toString(supply_drift) AS supply, toString(borrow_drift) AS borrow FROM comet_drift',
    ),
  ).toEqual([{ supply: `${supply}`, borrow: `${borrow}` }])
})

test('a vault that is born closed lends nothing and says so until its governor opens it', async () => {
  await index()
  const market = `${vaults.closed}-${vaults.secures}`
  const shown = async () => {
    const { assetsData } = await get(`/beta/borrow/markets/mainnet/${market}`)
    const { warnings } = await get(`/v2/detailed-vaults/mainnet/${vaults.closed}`)
    return {
      isBorrowEnabled: assetsData[0].assetConfig.isBorrowEnabled,
      isPaused: (warnings ?? []).includes('The vault is paused.'),
    }
  }
  expect(await shown()).toEqual({ isBorrowEnabled: false, isPaused: true })
  const open = encodeFunctionData({ abi: evkAbi, functionName: 'setHookedOps', args: [0] })
  await send(world.actors.admin, vaults.closed, open)
  await index()
  expect(await shown()).toEqual({ isBorrowEnabled: true, isPaused: false })
})

test('what a wallet has by a sub-account is among what it has', async () => {
  const sub = toHex(BigInt(alice) ^ 1n, { size: 20 })
  const market = `${vaults.lends}-${vaults.secures}`
  await send(alice, vaults.secures, depositOf(eth(4), sub))
  const enable = (functionName: 'enableCollateral' | 'enableController', vault: Address) => ({
    targetContract: evc,
    onBehalfOfAccount: zeroAddress,
    value: 0n,
    data: encodeFunctionData({ abi: evcAbi, functionName, args: [sub, vault] }),
  })
  const borrow = encodeFunctionData({ abi: evkAbi, functionName: 'borrow', args: [usd(5_000), alice] })
  const items = [
    enable('enableCollateral', vaults.secures),
    enable('enableController', vaults.lends),
    { targetContract: vaults.lends, onBehalfOfAccount: sub, value: 0n, data: borrow },
  ]
  await send(alice, evc, encodeFunctionData({ abi: evcAbi, functionName: 'batch', args: [items] }))
  await index()
  const blockNumber = BigInt((await node.head()).number)
  const debt = await node.client.readContract({
    address: vaults.lends,
    abi: evkAbi,
    functionName: 'debtOf',
    args: [sub],
    blockNumber,
  })
  expect(debt).toBeGreaterThanOrEqual(usd(5_000))
  const lower = (value: string) => value.toLowerCase()
  const position = await positionOf(alice, market)
  expect([position.userAddress, position.subAccount].map(lower)).toEqual([alice, sub])
  expect(position.assets.map((of: { borrowedNative: string }) => of.borrowedNative)).toEqual([`${debt}`, '0'])
  expect(position.healthFactor).toBeGreaterThan(1)
  const { data } = await get(`/beta/borrow/portfolio/positions/${alice}`)
  const ofEuler = data.filter((of: { marketId: string }) => lower(of.marketId) === market)
  expect(ofEuler.map((of: { subAccount: string }) => lower(of.subAccount))).toEqual([sub])
  const own = await positionOf(sub, market)
  expect(own).toMatchObject({ healthFactor: position.healthFactor, assets: position.assets })
  expect(own).not.toHaveProperty('subAccount')

  const asset = `${vaults.lends}-loan`
  const events = await get(`/beta/borrow/portfolio/events/${alice}/mainnet/${market}/${asset}`)
  expect(
    events.data.map((of: { eventType: string; subAccount: string }) => [of.eventType, lower(of.subAccount)]),
  ).toEqual([['borrow', sub]])
  const context = `/beta/borrow/markets/transactions/context`
  const { subAccounts, balances } = await get(`${context}/${alice}/mainnet/${market}/${asset}`)
  expect(subAccounts.map(lowerKeys)).toEqual([{ subAccount: sub, supplied: '0', borrowed: `${debt}` }])
  expect(balances.borrowed).toBe('0')
  // Nobody has its key.
  const refused = await get(`${context}/${sub}/mainnet/${market}/${asset}`, 422)
  expect(lower(refused.message)).toContain(alice)
  // Another wallet has nothing of it.
  expect((await positionOf(bob, market)).assets).toEqual([])
})
const lowerKeys = (of: { subAccount: string }) => ({ ...of, subAccount: of.subAccount.toLowerCase() })

test('an oracle that is too old is told of: the debt is unknown to be safe, and nothing can be withdrawn', async () => {
  const market = `${vaults.lends}-${vaults.secures}`
  for (const [functionName, vault] of [
    ['enableCollateral', vaults.secures],
    ['enableController', vaults.lends],
  ] as const)
    await send(bob, evc, encodeFunctionData({ abi: evcAbi, functionName, args: [bob, vault] }))
  await send(bob, vaults.secures, depositOf(eth(4), bob))
  await send(bob, vaults.lends, depositOf(usd(500), bob))
  await node.mine()
  const borrow = encodeFunctionData({ abi: evkAbi, functionName: 'borrow', args: [usd(1_000), bob] })
  await send(bob, vaults.lends, borrow)
  await index()
  expect((await positionOf(bob, market)).healthFactor).toBeGreaterThan(1)
  const lent = `/mainnet/${market}/${vaults.lends}-loan`
  const context = () => get(`/beta/borrow/markets/transactions/context/${bob}${lent}`)
  expect((await context()).limits.maxWithdraw).not.toBe('0')

  await node.send(route('setMaxStaleness', [86_400]))
  await node.mine((await node.head()).timestamp + 30 * 86_400)
  await index()
  expect(await positionOf(bob, market)).toMatchObject({
    ltv: null,
    healthFactor: null,
    warnings: [expect.stringContaining('price oracle')],
  })
  expect((await context()).limits.maxWithdraw).toBe('0')
  const withdraw = `/beta/borrow/markets/transactions/withdraw/${bob}${lent}?amount=1000000`
  expect((await get(withdraw, 422)).message).toMatch(/price oracle does not answer/)
  const redeem = `/v2/transactions/redeem/${bob}/mainnet/${vaults.lends}?amount=1000000`
  const { token } = world.assets.USDC
  expect((await get(`${redeem}&assetAddress=${token.address}`, 422)).message).toMatch(
    /price oracle does not answer/,
  )
  // Without a debt nobody asks the oracle.
  const free = await get(`/beta/borrow/markets/transactions/context/${world.actors.whale}${lent}`)
  expect(free.limits.maxWithdraw).not.toBe('0')
})
