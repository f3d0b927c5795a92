import type { Address, LocalAccount } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CometRef } from '../../../read-api/protocols/compound-v3/borrow.ts'
import { type CometMarket, cometAbi, cometCalls, deployComet } from '../../chain/comet.ts'
import { calls, deployFeed, deployToken, type Token } from '../../chain/deploy.ts'
import { openBorrowing, type Place } from './borrow-stage.ts'
import { wander } from './borrow-walk.ts'
import { type Stage, startStage } from './stage.ts'

/** Compound v3, on a contract of our own with Comet's accounting. */

const DAY = 86_400
type Hands = ReturnType<typeof openBorrowing>
let on: Omit<Stage, keyof Hands> & Hands
let usdc: Token
let weth: Token
let wbtc: Token
let comet: CometMarket
let market: CometRef
let lender: Address

beforeAll(async () => {
  const stage = await startStage()
  on = { ...stage, ...openBorrowing(stage) }
  const { node, mint } = stage
  usdc = await deployToken(node, { decimals: 6, symbol: 'USDC' })
  weth = await deployToken(node, { decimals: 18, symbol: 'WETH' })
  wbtc = await deployToken(node, { decimals: 8, symbol: 'WBTC' })
  const feed = (price: number) => deployFeed(node, { description: 'x / USD', price })
  const factors = { borrow: 0.8, liquidate: 0.85, liquidation: 0.93 }
  comet = await deployComet(node, { token: usdc, feed: await feed(1) }, [
    { token: weth, feed: await feed(3_000), ...factors },
    { token: wbtc, feed: await feed(90_000), ...factors },
  ])
  market = {
    protocol: 'compound-v3',
    chainId: 1,
    id: comet.address,
    root: comet.address,
    assets: [usdc, weth, wbtc].map(token => ({
      id: token.address,
      side: token === usdc ? 'loan' : 'collateral',
      info: { address: token.address, symbol: token.symbol, decimals: token.decimals },
    })),
  }
  // Somebody else lends and owes, so that interest accrues.
  lender = node.accounts[1] ?? '0x'
  const other = node.accounts[2] ?? '0x'
  const act = cometCalls(comet.address)
  await mint(usdc, lender, usd(1_000_000))
  await mint(weth, other, eth(400))
  await node.send(calls.approve(lender, usdc.address, comet.address))
  await node.send(calls.approve(other, weth.address, comet.address))
  await node.send(act.supply(lender, usdc.address, usd(1_000_000)))
  await node.send(act.supply(other, weth.address, eth(400)))
  await node.mine()
  await node.send(act.withdraw(other, usdc.address, usd(700_000)))
  await node.mine()
})
afterAll(() => on?.node.stop())

const usd = (whole: number) => BigInt(Math.round(whole * 1e6))
const eth = (whole: number) => BigInt(Math.round(whole * 1e6)) * 10n ** 12n
const place = (token: Token): Place => {
  const asset = market.assets.find(({ id }) => id === token.address)
  if (!asset) throw new Error('no asset')
  return { market, asset }
}
const read = (functionName: 'balanceOf' | 'borrowBalanceOf', user: LocalAccount) =>
  on.node.client.readContract({ address: comet.address, abi: cometAbi, functionName, args: [user.address] })
const collateralOf = (token: Token, user: LocalAccount) =>
  on.node.client.readContract({
    address: comet.address,
    abi: cometAbi,
    functionName: 'collateralBalanceOf',
    args: [user.address, token.address],
  })

async function rich() {
  const user = await on.newUser()
  await on.mint(usdc, user.address, usd(1_000))
  await on.mint(weth, user.address, eth(5) + 7n)
  await on.mint(wbtc, user.address, 10n ** 8n)
  return user
}

test('supply, borrow, repay and withdraw everything after days, and nothing is left', async () => {
  const user = await rich()
  const [loan, collateral] = [place(usdc), place(weth)]
  expect(await on.perform(collateral, user, 'supply', { amount: eth(2) })).toEqual(['approve', 'supply'])
  expect(await collateralOf(weth, user)).toBe(eth(2))

  // 2 × 3,000 × 0.8, which the market itself accepts at that block, and not a unit more.
  const { limits, block } = await on.look(loan, user)
  expect(limits.maxBorrow).toBe(usd(4_800))
  const borrow = (amount: bigint) =>
    cometCalls(comet.address).withdraw(user.address, usdc.address, amount).data ?? '0x'
  expect([
    await on.wouldPass(user, comet.address, borrow(usd(4_800)), block.number),
    await on.wouldPass(user, comet.address, borrow(usd(4_800) + 1n), block.number),
  ]).toEqual([true, false])
  await expect(on.bundle(loan, user, 'borrow', { amount: usd(4_801) })).rejects.toThrow(
    /^At most 4800000000 base units of USDC can be borrowed now, .* not be healthy/,
  )
  await expect(on.bundle(loan, user, 'borrow', { amount: usd(9) })).rejects.toThrow(
    'at least 10000000 base units',
  )
  await on.perform(loan, user, 'borrow', { amount: usd(3_000) })
  await on.wait(40 * DAY)
  const { balances } = await on.look(loan, user)
  expect(balances).toMatchObject({ supplied: 0n, borrowed: await read('borrowBalanceOf', user) })
  expect(balances.borrowed).toBeGreaterThan(usd(3_000))

  // Supplying would repay; collateral that secures the loan stays.
  await expect(on.bundle(loan, user, 'supply', { amount: 1n })).rejects.toThrow('Use repay')
  await expect(on.bundle(collateral, user, 'withdraw', { all: true })).rejects.toThrow('not be healthy')
  const { maxWithdraw } = (await on.look(collateral, user)).limits
  await on.perform(collateral, user, 'withdraw', { amount: maxWithdraw, after: 3_000 })

  await on.perform(loan, user, 'repay', { amount: usd(10) })
  expect(await on.perform(loan, user, 'repay', { all: true, after: 9 * DAY })).toEqual(['approve', 'repay'])
  expect([await read('borrowBalanceOf', user), await read('balanceOf', user)]).toEqual([0n, 0n])
  await on.perform(collateral, user, 'withdraw', { all: true })
  expect(await on.balance(weth.address, user.address)).toBe(eth(5) + 7n)

  await on.perform(loan, user, 'supply', { all: true })
  await on.wait(DAY)
  await expect(on.bundle(loan, user, 'borrow', { amount: usd(20) })).rejects.toThrow('Withdraw it first')
  await on.perform(loan, user, 'withdraw', { all: true, after: 9 * DAY })
  expect(await read('balanceOf', user)).toBe(0n)
})

test('pauses and caps are refused with the reason; a collateral asset is not borrowed', async () => {
  const user = await rich()
  const { node } = on
  const [loan, collateral] = [place(usdc), place(weth)]
  await on.perform(collateral, user, 'supply', { amount: eth(1) })
  const act = cometCalls(comet.address)
  const pause = async (supply: boolean, withdraw: boolean) => {
    await node.send(act.pause(node.accounts[0] ?? '0x', [supply, false, withdraw, false, false]))
    await node.mine()
  }
  await pause(true, false)
  await expect(on.bundle(collateral, user, 'supply', { amount: 1n })).rejects.toThrow('Supply is paused')
  await pause(false, true)
  await expect(on.bundle(loan, user, 'borrow', { amount: usd(50) })).rejects.toThrow('Withdrawals are paused')
  await expect(on.bundle(collateral, user, 'withdraw', { all: true })).rejects.toThrow(
    'Withdrawals are paused',
  )
  await pause(false, false)
  await on.mint(wbtc, user.address, 2_000_000n * 10n ** 8n)
  await expect(on.bundle(place(wbtc), user, 'supply', { all: true })).rejects.toThrow(
    'supply cap leaves room for',
  )
  await expect(on.bundle(collateral, user, 'borrow', { amount: 1n })).rejects.toThrow('has no borrow')
})

test('near-real-time figures are those of the contract', async () => {
  await on.wait(DAY)
  const { asset } = place(usdc)
  const figures = await on.borrowing.figures(market, asset)
  if (!figures) throw new Error('no figures')
  const at = { address: comet.address, abi: cometAbi, blockNumber: figures.block.number } as const
  const now = async (functionName: 'totalSupply' | 'totalBorrow' | 'getUtilization') =>
    on.node.client.readContract({ ...at, functionName })
  expect([figures.supplied, figures.borrowed]).toEqual([await now('totalSupply'), await now('totalBorrow')])
  const rate = await on.node.client.readContract({
    ...at,
    functionName: 'getBorrowRate',
    args: [await now('getUtilization')],
  })
  expect(figures.borrowRate).toBeCloseTo(Math.expm1((Number(rate) / 1e18) * 31_536_000), 9)
  // The first lender has been in since the beginning.
  const held = await on.node.client.readContract({ ...at, functionName: 'balanceOf', args: [lender] })
  expect(figures.supplyIndex).toBeCloseTo(Number(held) / 1e12, 6)
  const secured = await on.borrowing.figures(market, place(weth).asset)
  expect(secured?.supplied).toBe(await on.balance(weth.address, comet.address))
})

test('any order of actions of any size lands, and can be undone', { timeout: 120_000 }, async () => {
  const user = await rich()
  await on.perform(place(weth), user, 'supply', { amount: eth(2) })
  const count = await wander(on, user, {
    places: [usdc, usdc, weth, wbtc].map(place),
    async views({ asset }) {
      if (asset.side === 'loan')
        return { supplied: await read('balanceOf', user), borrowed: await read('borrowBalanceOf', user) }
      return { supplied: await collateralOf(asset.id === weth.address ? weth : wbtc, user), borrowed: 0n }
    },
    refill: () => on.mint(usdc, user.address, usd(20_000)),
    runs: 80,
    seed: 9,
  })
  console.info(JSON.stringify(count))
})
