import { encodeFunctionData, type LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aaveCalls } from '../../chain/aave.ts'
import { erc20 } from '../../chain/abis.ts'
import { calls, type Token } from '../../chain/deploy.ts'
import { type Market, morphoCalls } from '../../chain/morpho.ts'
import { aaveUserAbi, type Lending, type Place, startLending } from './borrow-stage.ts'

/** Context, bundle, signed and sent, held against the contracts' own view functions, and the context again. */

const DAY = 86_400
let on: Lending
beforeAll(async () => {
  on = await startLending()
})
afterAll(() => on?.node.stop())

const usd = (whole: number) => BigInt(Math.round(whole * 1e6))
const eth = (whole: number) => BigInt(Math.round(whole * 1e6)) * 10n ** 12n

async function rich(): Promise<LocalAccount> {
  const user = await on.newUser()
  await on.mint(on.tokens.weth, user.address, eth(10))
  await on.mint(on.tokens.usdc, user.address, usd(1_000))
  await on.mint(on.tokens.usdt, user.address, usd(1_000))
  return user
}

const debtOf = (token: Token, user: LocalAccount) =>
  on.balance(on.tokensOf(token).variableDebtToken, user.address)
const supplyOf = (token: Token, user: LocalAccount) => on.balance(on.tokensOf(token).aToken, user.address)
const enableCall = (token: Token, enabled: boolean) =>
  encodeFunctionData({
    abi: aaveUserAbi,
    functionName: 'setUserUseReserveAsCollateral',
    args: [token.address, enabled],
  })

describe('Aave v3', () => {
  test('supply, borrow, repay and withdraw everything after days, and nothing is left', async () => {
    const { usdc, weth } = on.tokens
    const [collateral, loan] = [on.inAave(weth), on.inAave(usdc)]
    const user = await rich()
    expect(await on.look(collateral, user)).toMatchObject({
      balances: { supplied: 0n, borrowed: 0n, wallet: eth(10), allowance: 0n },
      limits: { maxWithdraw: 0n, maxBorrow: 0n, maxRepay: 0n },
    })
    expect(await on.perform(collateral, user, 'supply', { amount: eth(4) })).toEqual(['approve', 'supply'])
    expect(await supplyOf(weth, user)).toBe(eth(4))

    // 4 × 3,000 × 0.8
    const { limits } = await on.look(loan, user)
    expect(limits.maxBorrow).toBe(usd(9_600))
    expect((await on.accountData(user))[2]).toBe(9_600n * 10n ** 8n)
    expect(await on.perform(loan, user, 'borrow', { amount: usd(5_000) })).toEqual(['borrow'])
    expect(await on.balance(usdc.address, user.address)).toBe(usd(6_000))
    await on.wait(40 * DAY)

    const { balances, block } = await on.look(loan, user)
    const debt = await on.node.client.readContract({
      address: on.tokensOf(usdc).variableDebtToken,
      abi: erc20,
      functionName: 'balanceOf',
      args: [user.address],
      blockNumber: block.number,
    })
    expect(balances.borrowed).toBe(debt)
    expect(debt).toBeGreaterThan(usd(5_000))

    expect(await on.perform(loan, user, 'repay', { all: true, after: 3 * DAY })).toEqual(['approve', 'repay'])
    expect(await debtOf(usdc, user)).toBe(0n)
    expect(await on.perform(collateral, user, 'withdraw', { all: true, after: 3 * DAY })).toEqual([
      'withdraw',
    ])
    expect(await supplyOf(weth, user)).toBe(0n)
    expect(await on.balance(weth.address, user.address)).toBeGreaterThan(eth(10))
    expect(await on.look(loan, user)).toMatchObject({ balances: { supplied: 0n, borrowed: 0n } })
  })

  test('a loan up to the limit lands, one unit more is refused and would have reverted', async () => {
    const { usdc, weth } = on.tokens
    const [collateral, loan] = [on.inAave(weth), on.inAave(usdc)]
    const user = await rich()
    await on.perform(collateral, user, 'supply', { amount: eth(1) })
    const { limits, block } = await on.look(loan, user)
    const { maxBorrow } = limits
    const { data = '0x' } = aaveCalls(on.aave.pool).borrow(user.address, usdc.address, maxBorrow)
    const { data: tooMuch = '0x' } = aaveCalls(on.aave.pool).borrow(
      user.address,
      usdc.address,
      maxBorrow + 1n,
    )
    expect(await on.wouldPass(user, on.aave.pool, data, block.number)).toBe(true)
    expect(await on.wouldPass(user, on.aave.pool, tooMuch, block.number)).toBe(false)
    await expect(on.bundle(loan, user, 'borrow', { amount: maxBorrow + usd(1) })).rejects.toThrow(
      /^At most \d+ base units of USDC can be borrowed now, less than the \d+ asked for\. .* not be healthy/,
    )
    await on.perform(loan, user, 'borrow', { all: true })
    const borrowed = await debtOf(usdc, user)
    expect(borrowed).toBeGreaterThanOrEqual(maxBorrow)
    expect(borrowed).toBeLessThan(maxBorrow + usd(1))

    // What secures the debt stays; what is beyond can leave, and the health factor says so.
    const { maxWithdraw } = (await on.look(collateral, user)).limits
    await expect(on.bundle(collateral, user, 'withdraw', { all: true })).rejects.toThrow(
      `At most ${maxWithdraw} base units of WETH can be withdrawn now, less than the`,
    )
    await on.perform(collateral, user, 'withdraw', { amount: maxWithdraw })
    const health = (await on.accountData(user))[5]
    expect(health).toBeGreaterThanOrEqual(10n ** 18n)
    expect(health).toBeLessThan(10n ** 18n + 10n ** 14n)
  })

  test('collateral that was switched off is switched on by a supply, or by the loan that needs it', async () => {
    const { usdc, weth, usdt } = on.tokens
    const user = await rich()
    await on.perform(on.inAave(weth), user, 'supply', { amount: eth(2) })
    await on.perform(on.inAave(usdc), user, 'supply', { amount: usd(100) })
    expect(await on.poolCall(user, enableCall(weth, false))).toBe(true)
    const standing = await on.look(on.inAave(weth), user)
    expect(standing.steps.supply).toEqual(['approve', 'supply', 'enableCollateral'])

    // The 100 USDC cover 60, and 1,000 want the WETH too.
    const loan = on.inAave(usdt)
    expect(await on.perform(loan, user, 'borrow', { amount: usd(60) })).toEqual(['borrow'])
    expect(await on.perform(loan, user, 'borrow', { amount: usd(1_000) })).toEqual([
      'enableCollateral',
      'borrow',
    ])
    expect(await debtOf(usdt, user)).toBeGreaterThanOrEqual(usd(1_060))
    expect((await on.look(on.inAave(weth), user)).steps.supply).toEqual(['approve', 'supply'])

    const other = await rich()
    await on.perform(on.inAave(weth), other, 'supply', { amount: eth(1) })
    await on.poolCall(other, enableCall(weth, false))
    expect((await on.look(loan, other)).steps.borrow).toEqual(['enableCollateral', 'borrow'])
    expect(await on.perform(on.inAave(weth), other, 'supply', { amount: eth(1) })).toEqual([
      'approve',
      'supply',
      'enableCollateral',
    ])
    expect((await on.accountData(other))[0]).toBeGreaterThanOrEqual(6_000n * 10n ** 8n)
  })

  test('a token that wants its allowance reset, and an allowance that is there already', async () => {
    const { usdt } = on.tokens
    const user = await rich()
    const approve = calls.approve(user.address, usdt.address, on.aave.pool, 5n)
    await on.sign(user, { to: usdt.address, chainId: 1, data: approve.data ?? '0x' })
    const place = on.inAave(usdt)
    expect(await on.perform(place, user, 'supply', { amount: usd(10) })).toEqual([
      'reset-approval',
      'approve',
      'supply',
    ])
    const again = calls.approve(user.address, usdt.address, on.aave.pool, usd(7))
    await on.sign(user, { to: usdt.address, chainId: 1, data: again.data ?? '0x' })
    expect(await on.perform(place, user, 'supply', { amount: usd(7) })).toEqual(['supply'])
    expect(await supplyOf(usdt, user)).toBeGreaterThanOrEqual(usd(17) - 1n)
  })

  test('simulation says what is spent and received', async () => {
    const user = await rich()
    const { actions } = await on.bundle(on.inAave(on.tokens.usdc), user, 'supply', {
      amount: usd(3),
      simulate: true,
    })
    expect(actions.at(-1)?.simulation).toMatchObject({ status: 'success', tokensSpent: { USDC: '3000000' } })
  })

  test('what is switched off, frozen, paused or capped is refused with the reason', async () => {
    const { usdc, weth } = on.tokens
    const user = await rich()
    const [collateral, loan] = [on.inAave(weth), on.inAave(usdc)]
    await on.perform(collateral, user, 'supply', { amount: eth(2) })
    await on.perform(loan, user, 'borrow', { amount: usd(100) })
    const refuses = async (place: Place, action: 'supply' | 'withdraw' | 'borrow' | 'repay', words: string) =>
      expect(on.bundle(place, user, action, { amount: usd(10) })).rejects.toThrow(words)

    await on.configure('setReserveFreeze', usdc.address, true)
    await refuses(loan, 'borrow', 'The reserve is frozen')
    await refuses(loan, 'supply', 'The reserve is frozen')
    await on.perform(loan, user, 'repay', { amount: usd(10) })
    await on.configure('setReserveFreeze', usdc.address, false)

    await on.configure('setReservePause', usdc.address, true)
    for (const action of ['supply', 'borrow', 'repay'] as const)
      await refuses(loan, action, 'The reserve is paused')
    await expect(on.bundle(loan, user, 'repay', { all: true })).rejects.toThrow('The reserve is paused')
    await on.configure('setReservePause', usdc.address, false)

    await on.configure('setReserveBorrowing', usdc.address, false)
    await refuses(loan, 'borrow', 'switched off')
    await on.configure('setReserveBorrowing', usdc.address, true)

    await on.configure('setBorrowCap', usdc.address, 1n)
    await refuses(loan, 'borrow', 'The borrow cap leaves room for 0 base units')
    await on.configure('setBorrowCap', usdc.address, 0n)
    const supplied = await on.node.client.readContract({
      address: on.tokensOf(usdc).aToken,
      abi: erc20,
      functionName: 'totalSupply',
    })
    await on.configure('setSupplyCap', usdc.address, supplied / 10n ** 6n + 10_000n)
    await on.mint(usdc, user.address, usd(20_000))
    // What has accrued to the treasury and is not minted yet counts too.
    await expect(on.bundle(loan, user, 'supply', { amount: usd(10_001) })).rejects.toThrow(
      'The supply cap leaves room for',
    )
    await on.perform(loan, user, 'supply', { amount: usd(9_000) })
    await on.configure('setSupplyCap', usdc.address, 0n)
  })

  /** The limit, which the pool itself accepts at that block, and does not accept a unit more. */
  async function provenLimit(token: Token, user: LocalAccount) {
    const { limits, block } = await on.look(on.inAave(token), user)
    const borrow = (amount: bigint) =>
      aaveCalls(on.aave.pool).borrow(user.address, token.address, amount).data ?? '0x'
    const passes = (amount: bigint) => on.wouldPass(user, on.aave.pool, borrow(amount), block.number)
    expect([await passes(limits.maxBorrow), await passes(limits.maxBorrow + 1n)]).toEqual([true, false])
    return limits.maxBorrow
  }

  test('eMode bounds a loan as the pool has it', async () => {
    const { usdc, usdt, weth } = on.tokens
    const user = await rich()
    await on.perform(on.inAave(usdc), user, 'supply', { amount: usd(1_000) })
    await on.configure('setEModeCategory', 1, 9_000, 9_300, 10_200, `0x${'0'.repeat(40)}`, 'usd')
    for (const token of [usdc, usdt]) await on.configure('setAssetEModeCategory', token.address, 1)
    const enter = encodeFunctionData({ abi: aaveUserAbi, functionName: 'setUserEMode', args: [1] })
    const before = await provenLimit(usdt, user)
    expect(await on.poolCall(user, enter)).toBe(true)
    const inMode = await provenLimit(usdt, user)
    expect(Number(inMode) / Number(before)).toBeCloseTo(0.9 / 0.75, 6)
    await expect(on.bundle(on.inAave(weth), user, 'borrow', { amount: 1_000n })).rejects.toThrow('eMode 1')
    await on.perform(on.inAave(usdt), user, 'borrow', { all: true })
    await on.perform(on.inAave(usdt), user, 'repay', { amount: usd(800) })
    const { limits } = await on.look(on.inAave(usdc), user)
    await on.perform(on.inAave(usdc), user, 'withdraw', { amount: limits.maxWithdraw })
    expect((await on.accountData(user))[5]).toBeGreaterThanOrEqual(10n ** 18n)
  })

  test('an isolated collateral is enabled by its supply, its debt ceiling bounds the loan; a siloed loan stands alone', async () => {
    const { usdc, usdt, weth, iso } = on.tokens
    await on.configure('setDebtCeiling', iso.address, 10_000n)
    await on.configure('setBorrowableInIsolation', usdt.address, true)
    const user = await rich()
    await on.mint(iso, user.address, eth(1_000))
    expect(await on.perform(on.inAave(iso), user, 'supply', { all: true })).toEqual([
      'approve',
      'supply',
      'enableCollateral',
    ])
    await expect(on.bundle(on.inAave(usdc), user, 'borrow', { amount: usd(1) })).rejects.toThrow(
      'isolation mode',
    )
    // 100.00, and what is less than a cent does not count.
    expect(await provenLimit(usdt, user)).toBe(100_009_999n)
    await on.perform(on.inAave(usdt), user, 'borrow', { amount: usd(60) })
    await expect(on.bundle(on.inAave(usdt), user, 'borrow', { amount: usd(41) })).rejects.toThrow(
      'debt ceiling',
    )
    // In isolation nothing else becomes collateral.
    expect(await on.perform(on.inAave(weth), user, 'supply', { amount: eth(1) })).toEqual([
      'approve',
      'supply',
    ])
    await on.perform(on.inAave(usdt), user, 'repay', { all: true, after: DAY })
    await on.configure('setSiloedBorrowing', iso.address, true)
    const other = await rich()
    await on.perform(on.inAave(usdc), other, 'supply', { amount: usd(900) })
    await on.perform(on.inAave(usdt), other, 'borrow', { amount: usd(1) })
    await expect(on.bundle(on.inAave(iso), other, 'borrow', { amount: eth(1) })).rejects.toThrow('siloed')
    await on.perform(on.inAave(iso), user, 'withdraw', { all: true })
    expect(await supplyOf(iso, user)).toBe(0n)
    await on.configure('setBorrowableInIsolation', usdt.address, false)
  })

  test('a wallet that cannot pay is told so', async () => {
    const { usdc, weth } = on.tokens
    const user = await rich()
    const loan = on.inAave(usdc)
    await expect(on.bundle(loan, user, 'supply', { amount: usd(1_001) })).rejects.toThrow('The wallet holds')
    await expect(on.bundle(loan, user, 'withdraw', { amount: 1n })).rejects.toThrow('has supplied 0')
    await expect(on.bundle(loan, user, 'borrow', { amount: 1n })).rejects.toThrow('no collateral')
    await expect(on.bundle(loan, user, 'repay', { all: true })).rejects.toThrow('owes 0')
    await expect(on.bundle(loan, user, 'supply', {})).rejects.toThrow('amount or all=true is needed')
    await expect(on.bundle(loan, user, 'supply', { amount: 1n, all: true })).rejects.toThrow('exclude')
    await expect(on.bundle(loan, user, 'supply', { amount: 0n })).rejects.toThrow('the amount is 0')
    await on.perform(on.inAave(weth), user, 'supply', { all: true })
    await on.perform(loan, user, 'borrow', { amount: usd(500) })
    await on.perform(loan, user, 'supply', { amount: usd(1_100) })
    await expect(on.bundle(loan, user, 'repay', { all: true })).rejects.toThrow(
      'not enough to repay everything',
    )
    await on.perform(loan, user, 'repay', { amount: (await on.look(loan, user)).limits.maxRepay })
    expect(await on.balance(usdc.address, user.address)).toBe(0n)
  })
})

describe('Morpho Blue', () => {
  test('supply, borrow, repay and withdraw everything after days: no share is left', async () => {
    const [collateral, loan] = [on.inMorpho('collateral'), on.inMorpho('loan')]
    const { usdc, weth } = on.tokens
    const user = await rich()
    expect(await on.perform(collateral, user, 'supply', { amount: eth(2) })).toEqual(['approve', 'supply'])
    expect((await on.position(loan, user))[2]).toBe(eth(2))
    // 2 × 3,000 × 0.86
    const { limits, block } = await on.look(loan, user)
    expect(limits.maxBorrow).toBeGreaterThanOrEqual(usd(5_160) - 2n)
    const [market] = on.morpho.markets
    const wouldBorrow = (amount: bigint) => {
      const { data = '0x' } = morphoCalls(on.morpho.address).borrow(user.address, market as Market, amount)
      return on.wouldPass(user, on.morpho.address, data, block.number)
    }
    expect(await wouldBorrow(limits.maxBorrow)).toBe(true)
    expect(await wouldBorrow(usd(5_160) + 1n)).toBe(false)
    await expect(on.bundle(loan, user, 'borrow', { amount: usd(5_160) + 1n })).rejects.toThrow(
      /^At most \d+ base units of USDC can be borrowed now, less than the 5160000001 .* not be healthy/,
    )
    await on.perform(loan, user, 'borrow', { amount: usd(3_000) })
    await on.perform(loan, user, 'supply', { amount: usd(500) })
    await on.wait(30 * DAY)
    await expect(on.bundle(collateral, user, 'withdraw', { all: true })).rejects.toThrow('not be healthy')

    expect(await on.perform(loan, user, 'repay', { all: true, after: 5 * DAY })).toEqual(['approve', 'repay'])
    expect((await on.position(loan, user))[1]).toBe(0n)
    await on.perform(loan, user, 'withdraw', { all: true, after: 5 * DAY })
    expect((await on.position(loan, user))[0]).toBe(0n)
    await on.perform(collateral, user, 'withdraw', { all: true })
    expect(await on.position(loan, user)).toEqual([0n, 0n, 0n])
    expect(await on.balance(weth.address, user.address)).toBe(eth(10))
    expect(await on.look(loan, user)).toMatchObject({
      balances: { supplied: 0n, borrowed: 0n, wallet: await on.balance(usdc.address, user.address) },
    })
  })

  test('the whole debt as an amount is repaid by shares, a part of it as an amount', async () => {
    const [collateral, loan] = [on.inMorpho('collateral'), on.inMorpho('loan')]
    const user = await rich()
    await on.perform(collateral, user, 'supply', { amount: eth(1) })
    await on.perform(loan, user, 'borrow', { amount: usd(1) })
    await on.perform(loan, user, 'repay', { amount: usd(0.4) })
    const { borrowed } = (await on.look(loan, user)).balances
    expect(borrowed).toBeGreaterThanOrEqual(usd(0.6))
    await on.perform(loan, user, 'repay', { amount: borrowed })
    expect((await on.position(loan, user))[1]).toBe(0n)
  })

  test('limits of withdrawal hold until the transaction lands', async () => {
    const [collateral, loan] = [on.inMorpho('collateral'), on.inMorpho('loan')]
    const user = await rich()
    await on.perform(collateral, user, 'supply', { amount: eth(3) })
    await on.perform(loan, user, 'borrow', { amount: usd(2_000) })
    const { maxWithdraw } = (await on.look(collateral, user)).limits
    await on.perform(collateral, user, 'withdraw', { amount: maxWithdraw, after: 3_000 })
    await expect(on.bundle(loan, user, 'borrow', { amount: usd(10) })).rejects.toThrow('not be healthy')
  })

  test('what is not lent out bounds what can be had; the collateral asset is not borrowed', async () => {
    const [collateral, loan] = [on.inMorpho('collateral'), on.inMorpho('loan')]
    const user = await rich()
    await on.mint(on.tokens.weth, user.address, eth(1_000))
    await on.perform(collateral, user, 'supply', { all: true })
    await expect(on.bundle(loan, user, 'borrow', { amount: usd(900_000) })).rejects.toThrow('not lent out')
    for (const action of ['borrow', 'repay'] as const) {
      await expect(on.bundle(collateral, user, action, { amount: 1n })).rejects.toThrow(`has no ${action}`)
    }
    expect((await on.look(collateral, user)).steps).toMatchObject({ borrow: [], repay: [] })
  })

  test('a token that wants its allowance reset', async () => {
    const loan = on.inMorpho('loan', 1)
    const { usdt } = on.tokens
    const user = await rich()
    const approve = calls.approve(user.address, usdt.address, on.morpho.address, 5n)
    await on.sign(user, { to: usdt.address, chainId: 1, data: approve.data ?? '0x' })
    const did = await on.perform(loan, user, 'supply', { amount: usd(10) })
    expect(did).toEqual(['reset-approval', 'approve', 'supply'])
  })
})
