import { type Address, encodeFunctionData, type LocalAccount } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EulerRef } from '../../../read-api/protocols/euler-v2/account.ts'
import { ownArtifacts } from '../../chain/compile.ts'
import { calls, deployFeed, deployToken, type Token } from '../../chain/deploy.ts'
import { deployEulerCore, evcAbi, evkAbi } from '../../chain/evk.ts'
import { openBorrowing, type Place } from './borrow-stage.ts'
import { wander } from './borrow-walk.ts'
import { type Stage, startStage } from './stage.ts'

/** Euler v2, on contracts of our own after the connector, the vaults and their oracles. */

const DAY = 86_400
type Hands = ReturnType<typeof openBorrowing>
let on: Omit<Stage, keyof Hands> & Hands
let usdc: Token
let weth: Token
let wbtc: Token
let evc: Address
const vaults = {} as Record<'usdc' | 'usdc2' | 'weth' | 'wbtc', Address>
/** 5 % in 365 days, whatever the utilization; the contract's years are Gregorian. */
const rate = (5n * 10n ** 25n * 31_556_952n) / 31_536_000n

const usd = (whole: number) => BigInt(Math.round(whole * 1e6))
const eth = (whole: number) => BigInt(Math.round(whole * 1e6)) * 10n ** 12n

beforeAll(async () => {
  const stage = await startStage()
  on = { ...stage, ...openBorrowing(stage) }
  const { node, deploy, act, mint } = stage
  usdc = await deployToken(node, { decimals: 6, symbol: 'USDC' })
  weth = await deployToken(node, { decimals: 18, symbol: 'WETH' })
  wbtc = await deployToken(node, { decimals: 8, symbol: 'WBTC' })
  const { connector, vault, route } = await deployEulerCore(node, await deploy(ownArtifacts().AnyLog))
  evc = connector
  await node.send(route('setSpread', [10n ** 15n]))
  const feeds = {
    usd: await deployFeed(node, { description: 'USD', price: 1 }),
    eth: await deployFeed(node, { description: 'ETH', price: 3_000 }),
    btc: await deployFeed(node, { description: 'BTC', price: 90_000 }),
  }
  for (const [name, token, feed] of [
    ['usdc', usdc, feeds.usd],
    ['usdc2', usdc, feeds.usd],
    ['weth', weth, feeds.eth],
    ['wbtc', wbtc, feeds.btc],
  ] as const) {
    const { address } = await vault({ token, feed })
    await node.mine()
    vaults[name] = address
    await act(address, evkAbi, 'setRates', rate, 0n)
  }
  for (const lender of [vaults.usdc, vaults.usdc2]) {
    await act(lender, evkAbi, 'setLTV', vaults.weth, 8_000, 8_500, 0)
    await act(lender, evkAbi, 'setLTV', vaults.wbtc, 7_000, 7_500, 0)
  }
  // Others lend, and owe, so that interest accrues.
  const [, lender = '0x', borrower = '0x'] = node.accounts
  await mint(usdc, lender, usd(2_000_000))
  await mint(weth, borrower, eth(400))
  const send = (from: Address, to: Address, data: `0x${string}`) => node.send({ from, to, data })
  const depositOf = (assets: bigint, to: Address) =>
    encodeFunctionData({ abi: evkAbi, functionName: 'deposit', args: [assets, to] })
  for (const vault of [vaults.usdc, vaults.usdc2]) {
    await node.send(calls.approve(lender, usdc.address, vault))
    await send(lender, vault, depositOf(usd(1_000_000), lender))
  }
  await node.send(calls.approve(borrower, weth.address, vaults.weth))
  await send(borrower, vaults.weth, depositOf(eth(400), borrower))
  for (const [functionName, vault] of [
    ['enableCollateral', vaults.weth],
    ['enableController', vaults.usdc],
  ] as const)
    await send(borrower, evc, encodeFunctionData({ abi: evcAbi, functionName, args: [borrower, vault] }))
  await node.mine()
  const borrow = encodeFunctionData({ abi: evkAbi, functionName: 'borrow', args: [usd(600_000), borrower] })
  await send(borrower, vaults.usdc, borrow)
  await node.mine()
})
afterAll(() => on?.node.stop())

/** A vault that lends USDC, with its collateral. */
const marketOf = (lender: Address): EulerRef => ({
  protocol: 'euler-v2',
  chainId: 1,
  id: lender,
  root: lender,
  vaults: { [lender]: lender, [vaults.weth]: vaults.weth, [vaults.wbtc]: vaults.wbtc },
  assets: (
    [
      [lender, usdc],
      [vaults.weth, weth],
      [vaults.wbtc, wbtc],
    ] as const
  ).map(([id, { address, symbol, decimals }]) => ({
    id,
    side: id === lender ? 'loan' : 'collateral',
    info: { address, symbol, decimals },
  })),
})
const place = (vault: Address, lender = vaults.usdc): Place => {
  const market = marketOf(lender)
  const asset = market.assets.find(({ id }) => id === vault)
  if (!asset) throw new Error('no asset')
  return { market, asset }
}
const read = (
  address: Address,
  functionName: 'balanceOf' | 'debtOf' | 'convertToAssets',
  args: readonly [Address | bigint],
) => on.node.client.readContract({ address, abi: evkAbi, functionName, args } as never) as Promise<bigint>
const sharesOf = (vault: Address, user: LocalAccount) => read(vault, 'balanceOf', [user.address])
const debtOf = (vault: Address, user: LocalAccount) => read(vault, 'debtOf', [user.address])
const told = (functionName: 'getControllers' | 'getCollaterals', user: LocalAccount) =>
  on.node.client
    .readContract({ address: evc, abi: evcAbi, functionName, args: [user.address] })
    .then(list => list.map(of => of.toLowerCase()))

async function rich() {
  const user = await on.newUser()
  await on.mint(usdc, user.address, usd(1_000))
  await on.mint(weth, user.address, eth(5) + 7n)
  await on.mint(wbtc, user.address, 10n ** 7n)
  return user
}

test('supply, borrow, repay and withdraw everything after days, and nothing is left', async () => {
  const user = await rich()
  const [loan, collateral] = [place(vaults.usdc), place(vaults.weth)]
  expect(await on.perform(collateral, user, 'supply', { amount: eth(2) })).toEqual([
    'approve',
    'supply',
    'enableCollateral',
  ])
  expect(await told('getCollaterals', user)).toEqual([vaults.weth])
  expect(await on.perform(collateral, user, 'supply', { amount: eth(1) })).toEqual(['approve', 'supply'])

  expect((await on.look(loan, user)).steps.borrow).toEqual(['enableController', 'borrow'])
  // 3 × 3,000 × 0.8, less a half tenth of a percent of spread on either side.
  const { maxBorrow } = (await on.look(loan, user)).limits
  expect(Number(maxBorrow) / 1e6).toBeCloseTo((7_200 * 0.9995) / 1.0005, 3)
  await expect(on.bundle(loan, user, 'borrow', { amount: maxBorrow + 10n })).rejects.toThrow(
    /^At most \d+ base units of USDC can be borrowed now, .* not be healthy/,
  )
  expect(await on.perform(loan, user, 'borrow', { amount: usd(3_000) })).toEqual([
    'enableController',
    'borrow',
  ])
  expect(await told('getControllers', user)).toEqual([vaults.usdc])
  const { limits, block } = await on.look(loan, user)
  const borrow = (amount: bigint) =>
    encodeFunctionData({ abi: evkAbi, functionName: 'borrow', args: [amount, user.address] })
  const passes = (amount: bigint) => on.wouldPass(user, vaults.usdc, borrow(amount), block.number)
  // The limit leaves room for an hour of interest: 3,000 × 5 % / 8,760, and the spread.
  expect([await passes(limits.maxBorrow), await passes(limits.maxBorrow + usd(0.02))]).toEqual([true, false])

  await on.wait(40 * DAY)
  const { balances } = await on.look(loan, user)
  expect(balances.borrowed).toBe(await debtOf(vaults.usdc, user))
  await expect(on.bundle(collateral, user, 'withdraw', { all: true })).rejects.toThrow('not be healthy')
  const { maxWithdraw } = (await on.look(collateral, user)).limits
  await on.perform(collateral, user, 'withdraw', { amount: maxWithdraw, after: 3_000 })
  await on.perform(loan, user, 'repay', { amount: usd(10) })
  expect(await on.perform(loan, user, 'repay', { all: true, after: 9 * DAY })).toEqual(['approve', 'repay'])
  expect(await debtOf(vaults.usdc, user)).toBe(0n)
  await on.perform(collateral, user, 'withdraw', { all: true, after: DAY })
  expect(await sharesOf(vaults.weth, user)).toBe(0n)

  await on.perform(loan, user, 'supply', { all: true })
  await on.perform(loan, user, 'withdraw', { all: true, after: 9 * DAY })
  expect(await sharesOf(vaults.usdc, user)).toBe(0n)
})

test('collateral is enabled by the loan that needs it; one controller follows another', async () => {
  const user = await rich()
  const deposit = encodeFunctionData({
    abi: evkAbi,
    functionName: 'deposit',
    args: [eth(1), user.address],
  })
  const { data: approve = '0x' } = calls.approve(user.address, weth.address, vaults.weth)
  await on.sign(user, { to: weth.address, chainId: 1, data: approve })
  await on.sign(user, { to: vaults.weth, chainId: 1, data: deposit })
  expect(await told('getCollaterals', user)).toEqual([])
  const [first, second] = [place(vaults.usdc), place(vaults.usdc2, vaults.usdc2)]
  await on.perform(first, user, 'borrow', { amount: usd(100) })
  expect(await told('getCollaterals', user)).toEqual([vaults.weth])

  await expect(on.bundle(second, user, 'borrow', { amount: usd(50) })).rejects.toThrow(
    'decides over the account',
  )
  await on.perform(first, user, 'repay', { all: true })
  expect(await told('getControllers', user)).toEqual([vaults.usdc])
  await on.perform(second, user, 'borrow', { amount: usd(50) })
  expect(await told('getControllers', user)).toEqual([vaults.usdc2])

  // More collateral, in another vault, for more debt.
  await on.sign(user, {
    to: wbtc.address,
    chainId: 1,
    data: calls.approve(user.address, wbtc.address, vaults.wbtc).data ?? '0x',
  })
  const more = encodeFunctionData({ abi: evkAbi, functionName: 'deposit', args: [10n ** 7n, user.address] })
  await on.sign(user, { to: vaults.wbtc, chainId: 1, data: more })
  expect(await on.perform(second, user, 'borrow', { amount: usd(4_000) })).toEqual([
    'enableCollateral',
    'borrow',
  ])
})

test('caps and what is switched off are refused with the reason', async () => {
  const user = await rich()
  const [loan, collateral] = [place(vaults.usdc), place(vaults.weth)]
  await on.perform(collateral, user, 'supply', { amount: eth(1) })
  // A cap of 1.00 × 10^6: one whole USDC.
  const cap = (100 << 6) | 6
  await on.act(vaults.usdc, evkAbi, 'setCaps', cap, cap)
  await expect(on.bundle(loan, user, 'supply', { amount: 1n })).rejects.toThrow(
    'The supply cap leaves room for 0',
  )
  await expect(on.bundle(loan, user, 'borrow', { amount: 1n })).rejects.toThrow(
    'The borrow cap leaves room for 0',
  )
  await on.act(vaults.usdc, evkAbi, 'setCaps', 0, 0)
  await on.act(vaults.usdc, evkAbi, 'setHookedOps', (1 << 0) | (1 << 6) | (1 << 7))
  for (const [action, word] of [
    ['supply', 'deposit'],
    ['borrow', 'borrow'],
  ] as const)
    await expect(on.bundle(loan, user, action, { amount: 1n })).rejects.toThrow(`switched ${word} off`)
  await on.act(vaults.usdc, evkAbi, 'setHookedOps', 0)
  await expect(on.bundle(collateral, user, 'repay', { amount: 1n })).rejects.toThrow('has no repay')
})

test('near-real-time figures are those of the contract', async () => {
  await on.wait(DAY)
  const { market, asset } = place(vaults.usdc)
  const figures = await on.borrowing.figures(market, asset)
  if (!figures) throw new Error('no figures')
  const at = { address: vaults.usdc, abi: evkAbi, blockNumber: figures.block.number } as const
  const now = (functionName: 'totalAssets' | 'totalBorrows' | 'interestAccumulator') =>
    on.node.client.readContract({ ...at, functionName })
  expect([figures.supplied, figures.borrowed]).toEqual([await now('totalAssets'), await now('totalBorrows')])
  expect(figures.borrowRate).toBeCloseTo(Math.expm1(0.05), 6)
  expect(figures.borrowIndex).toBeCloseTo(Number(await now('interestAccumulator')) / 1e27, 9)
})

// Among their steps are withdrawals of what is lent itself by an account that owes, and of what secures nothing.
test.each([31, 62])(
  'any order of actions of any size lands, and can be undone (%i)',
  {
    timeout: 180_000,
  },
  async seed => {
    const user = await rich()
    await on.perform(place(vaults.weth), user, 'supply', { amount: eth(2) })
    const count = await wander(on, user, {
      places: [vaults.usdc, vaults.usdc, vaults.weth, vaults.wbtc].map(vault => place(vault)),
      async views({ asset }) {
        const vault = asset.id as Address
        return {
          supplied: await read(vault, 'convertToAssets', [await sharesOf(vault, user)]),
          borrowed: asset.side === 'loan' ? await debtOf(vault, user) : 0n,
        }
      },
      refill: () => on.mint(usdc, user.address, usd(20_000)),
      runs: 80,
      seed,
    })
    console.info(JSON.stringify(count))
  },
)

test('what secures a debt is bound by it, whichever market it is looked at in', async () => {
  const user = await rich()
  await on.perform(place(vaults.weth), user, 'supply', { amount: eth(2) })
  await on.perform(place(vaults.usdc), user, 'borrow', { amount: usd(4_500) })
  const weth = place(vaults.weth, vaults.usdc2)
  const { limits, block } = await on.look(weth, user)
  const withdraw = (amount: bigint) =>
    encodeFunctionData({
      abi: evkAbi,
      functionName: 'withdraw',
      args: [amount, user.address, user.address],
    })
  const passes = (amount: bigint) => on.wouldPass(user, vaults.weth, withdraw(amount), block.number)
  expect(limits.maxWithdraw).toBe((await on.look(place(vaults.weth), user)).limits.maxWithdraw)
  expect(limits.maxWithdraw).toBeLessThan(eth(1))
  expect([await passes(limits.maxWithdraw), await passes(limits.maxWithdraw + eth(0.001))]).toEqual([
    true,
    false,
  ])
  await expect(on.bundle(weth, user, 'withdraw', { amount: eth(1) })).rejects.toThrow('not be healthy')

  // Past its borrow LTV nothing leaves the account, of no vault.
  await on.perform(place(vaults.usdc2, vaults.usdc2), user, 'supply', { amount: usd(500) })
  await on.perform(place(vaults.usdc), user, 'supply', { amount: usd(500) })
  await on.act(vaults.usdc, evkAbi, 'setLTV', vaults.weth, 7_000, 8_500, 0)
  for (const of of [place(vaults.usdc), place(vaults.usdc2, vaults.usdc2), weth]) {
    expect((await on.look(of, user)).limits.maxWithdraw).toBe(0n)
    await expect(on.bundle(of, user, 'withdraw', { amount: 1_000n })).rejects.toThrow(/healthy/)
  }
  await on.act(vaults.usdc, evkAbi, 'setLTV', vaults.weth, 8_000, 8_500, 0)
})
