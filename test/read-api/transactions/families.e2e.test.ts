import type { Address, LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { VaultRef } from '../../../read-api/transactions/family.ts'
import { type Aave, aaveCalls, aaveConfigCalls, deployAave } from '../../chain/aave.ts'
import { cometCalls, deployComet } from '../../chain/comet.ts'
import { calls, deployFeed, deployToken, type Token } from '../../chain/deploy.ts'
import { deployMorpho } from '../../chain/morpho.ts'
import { contract } from '../artifacts.ts'
import { type Stage, startStage, vaultRef } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
})
afterAll(() => stage?.node.stop())

/** A user with 1,000 whole tokens, and a vault of a contract of ./contracts that takes the token first. */
async function scene(name: string, ...rest: readonly unknown[]) {
  const asset = await deployToken(stage.node, { decimals: 18 })
  const artifact = contract(name)
  const address = await stage.deploy(artifact, asset.address, ...rest)
  const ref = vaultRef(address, asset, { symbol: 'TST', decimals: 18 })
  const user = await stage.newUser()
  await stage.mint(asset, user.address, 1_000n * unit)
  const call = (functionName: string, ...args: readonly unknown[]) =>
    stage.act(address, artifact.abi, functionName, ...args)
  return { asset, ref, user, call }
}
const unit = 10n ** 18n

const familyOf = async (ref: VaultRef) => (await stage.preparer.bind(ref)).family

describe('ERC-7540 (contract of our own after the standard)', () => {
  test('request, wait, claim, both ways', async () => {
    const { asset, ref, user, call } = await scene('AsyncVault')
    const { perform, bundle, look, balance } = stage
    expect(await familyOf(ref)).toBe('erc-7540')
    expect(await look(ref, user)).toMatchObject({
      deposit: {
        current: 'request-deposit',
        steps: [{ name: 'request-deposit' }, { name: 'claim-deposit' }],
      },
      redeem: { current: 'request-redeem' },
    })
    await expect(bundle(ref, user, 'deposit', { amount: 1n })).rejects.toThrow('has no deposit')
    const made = await perform(ref, user, 'request-deposit', { amount: 300n * unit })
    expect(made.actions.map(({ name }) => name)).toEqual(['approve', 'request-deposit'])
    expect(await balance(asset.address, user.address)).toBe(700n * unit)
    await expect(bundle(ref, user, 'claim-deposit')).rejects.toThrow('still pending')
    expect((await look(ref, user)).pendingRequests?.deposits).toEqual([
      { status: 'pending', assetAmount: 300n * unit },
    ])
    await call('fulfil', user.address)
    expect(await look(ref, user)).toMatchObject({
      deposit: { current: 'claim-deposit' },
      pendingRequests: { deposits: [{ status: 'ready', assetAmount: 300n * unit }] },
    })
    await perform(ref, user, 'claim-deposit')
    expect(await balance(ref.address, user.address)).toBe(300n * unit)

    await expect(bundle(ref, user, 'request-redeem', { amount: 1n })).rejects.toThrow('requested in shares')
    await perform(ref, user, 'request-redeem', { all: true })
    expect(await balance(ref.address, user.address)).toBe(0n)
    await expect(bundle(ref, user, 'claim-redeem')).rejects.toThrow('still pending')
    await call('fulfil', user.address)
    expect((await look(ref, user)).unclaimedAssets).toBe(300n * unit)
    await perform(ref, user, 'claim-redeem')
    expect(await balance(asset.address, user.address)).toBe(1_000n * unit)
    await expect(bundle(ref, user, 'claim-redeem')).rejects.toThrow('waiting to be claimed')
  })

  test.each(['LagoonLike', 'LagoonModesLike'])(
    'deposits at once while the valuation is valid: %s',
    async name => {
      const { ref, user, call } = await scene(name)
      const { perform, bundle, look, balance } = stage
      const steps = async () => {
        const { deposit } = await look(ref, user)
        return [deposit.current, ...deposit.steps.map(step => step.name)]
      }
      expect(await steps()).toEqual(['request-deposit', 'request-deposit', 'claim-deposit'])
      await expect(bundle(ref, user, 'deposit', { amount: 1n })).rejects.toThrow('has no deposit')
      await perform(ref, user, 'request-deposit', { amount: 300n * unit })
      await call('fulfil', user.address)
      await call('setTotalAssetsValid', true)
      if (name === 'LagoonModesLike') {
        // Valid, and for requests all the same.
        await perform(ref, user, 'claim-deposit')
        await perform(ref, user, 'request-deposit', { amount: 100n * unit })
        await call('fulfil', user.address)
        await call('allow', true)
      }
      expect(await steps()).toEqual(['claim-deposit', 'deposit', 'claim-deposit'])
      await perform(ref, user, 'claim-deposit')
      expect(await steps()).toEqual(['deposit', 'deposit'])
      await expect(bundle(ref, user, 'request-deposit', { amount: 1n })).rejects.toThrow('at once')
      const before = await balance(ref.address, user.address)
      const made = await perform(ref, user, 'deposit', { amount: 50n * unit })
      expect(made.actions.map(action => action.name)).toEqual(['approve', 'deposit'])
      expect(await balance(ref.address, user.address)).toBe(before + 50n * unit)
      await expect(bundle(ref, user, 'deposit', { amount: 1_000n * unit })).rejects.toThrow('holds')
      await perform(ref, user, 'request-redeem', { all: true })
    },
  )

  test('a share token that is a contract of its own (ERC-7575)', async () => {
    const { asset, ref, user, call } = await scene('SeparateShareVault')
    const { perform, bundle, look, balance, node } = stage
    const { abi } = contract('SeparateShareVault')
    const at = await node.client.readContract({ address: ref.address, abi, functionName: 'share' })
    const assetAddress = String(at).toLowerCase() as Address
    await perform(ref, user, 'request-deposit', { amount: 300n * unit })
    await call('fulfil', user.address)
    await call('setPaysNothing', true)
    await expect(bundle(ref, user, 'claim-deposit')).rejects.toThrow('would give no TST')
    await call('setPaysNothing', false)
    expect((await bundle(ref, user, 'claim-deposit', { simulate: true })).actions[0]?.simulation).toEqual({
      url: '',
      status: 'success',
      tokensSpent: {},
      tokensReceived: { TST: String(300n * unit) },
    })
    await perform(ref, user, 'claim-deposit')
    expect((await look(ref, user)).shares).toBe(300n * unit)
    await expect(bundle(ref, user, 'request-redeem', { amount: unit })).rejects.toThrow(
      `assetAddress must be ${assetAddress}`,
    )
    await perform(ref, user, 'request-redeem', { amount: 100n * unit, assetAddress })
    // As the actionsUrl of the context has it.
    await perform(ref, user, 'request-redeem', { amount: 100n * unit, assetAddress: ref.address })
    await perform(ref, user, 'request-redeem', { all: true })
    await call('fulfil', user.address)
    await perform(ref, user, 'claim-redeem')
    expect(await balance(asset.address, user.address)).toBe(1_000n * unit)
    await expect(
      bundle(ref, user, 'request-deposit', {
        amount: 1n,
        assetAddress: user.address.toLowerCase() as Address,
      }),
    ).rejects.toThrow(`its share token ${assetAddress}`)
  })

  test('requests are cancelled', async () => {
    const { asset, ref, user, call } = await scene('AsyncVault')
    const { perform, balance, bundle, look } = stage
    const cancels = async () => (await look(ref, user)).cancelSteps?.map(({ name }) => name)
    await expect(bundle(ref, user, 'cancel-deposit')).rejects.toThrow('No deposit request')
    expect(await cancels()).toBeUndefined()
    await perform(ref, user, 'request-deposit', { amount: 5n * unit })
    expect(await cancels()).toEqual(['cancel-deposit'])
    await perform(ref, user, 'cancel-deposit')
    await call('fulfil', user.address)
    await perform(ref, user, 'cancel-deposit')
    expect(await balance(asset.address, user.address)).toBe(1_000n * unit)
    await perform(ref, user, 'request-deposit', { amount: 5n * unit })
    await call('fulfil', user.address)
    await perform(ref, user, 'claim-deposit')
    await perform(ref, user, 'request-redeem', { amount: 2n * unit, assetAddress: ref.address })
    expect(await cancels()).toEqual(['cancel-redeem'])
    await perform(ref, user, 'cancel-redeem')
    await call('fulfil', user.address)
    // Cancelled, and waiting to be paid back.
    expect(await cancels()).toEqual(['cancel-redeem'])
    await perform(ref, user, 'cancel-redeem')
    expect(await cancels()).toBeUndefined()
    expect(await balance(ref.address, user.address)).toBe(5n * unit)
  })
})

describe('cooldown', () => {
  test('as sUSDe (contract of our own after StakedUSDeV2)', async () => {
    const { asset, ref, user, call } = await scene('StakedUsdeLike', 7 * 86_400)
    const { perform, bundle, look, balance, wait } = stage
    expect(await familyOf(ref)).toBe('staked-usde')
    await perform(ref, user, 'deposit', { amount: 100n * unit })
    await expect(bundle(ref, user, 'redeem', { all: true })).rejects.toThrow(
      'begin with start-redeem-cooldown',
    )
    expect((await look(ref, user)).redeem.current).toBe('start-redeem-cooldown')
    await expect(bundle(ref, user, 'start-redeem-cooldown', { amount: 101n * unit })).rejects.toThrow('worth')
    await perform(ref, user, 'start-redeem-cooldown', { amount: 40n * unit })
    expect(await look(ref, user)).toMatchObject({
      shares: 60n * unit,
      unclaimedAssets: 40n * unit,
      redeem: { current: 'redeem' },
      pendingRequests: { redeems: [{ status: 'pending', assetAmount: 40n * unit }] },
      vaultSpecificData: { claimData: { status: 'pending', assetAmount: String(40n * unit) } },
    })
    await perform(ref, user, 'start-redeem-cooldown', { all: true })
    expect(await balance(ref.address, user.address)).toBe(0n)
    await expect(bundle(ref, user, 'redeem')).rejects.toThrow('cooldown ends at')
    await wait(7 * 86_400)
    expect((await look(ref, user)).pendingRequests?.redeems[0]?.status).toBe('ready')
    await perform(ref, user, 'redeem')
    expect(await balance(asset.address, user.address)).toBe(1_000n * unit)

    await call('setCooldownDuration', 0)
    await perform(ref, user, 'deposit', { amount: unit })
    await expect(bundle(ref, user, 'start-redeem-cooldown', { all: true })).rejects.toThrow('no cooldown')
    await perform(ref, user, 'redeem', { all: true })
    expect(await balance(asset.address, user.address)).toBe(1_000n * unit)
  })

  test('as stkAAVE (contract of our own after StakedTokenV3)', async () => {
    const reward = await deployToken(stage.node, { decimals: 18, symbol: 'RWD' })
    const { asset, ref, user, call } = await scene('StakedTokenLike', reward.address)
    const { perform, bundle, look, balance, wait } = stage
    expect(await familyOf(ref)).toBe('staked-token')
    await perform(ref, user, 'deposit', { amount: 100n * unit })
    await expect(bundle(ref, user, 'redeem', { all: true })).rejects.toThrow('No cooldown')
    await perform(ref, user, 'start-redeem-cooldown')
    await expect(bundle(ref, user, 'redeem', { all: true })).rejects.toThrow('cooldown ends at')
    expect(await look(ref, user)).toMatchObject({
      vaultSpecificData: { cooldownData: { status: 'active', amount: String(100n * unit) } },
      pendingRequests: { redeems: [{ status: 'pending', lpTokenAmount: 100n * unit }] },
    })
    await wait(20 * 86_400)
    await perform(ref, user, 'redeem', { amount: 30n * unit })
    expect(await balance(asset.address, user.address)).toBe(930n * unit)
    await perform(ref, user, 'redeem', { all: true })
    expect(await balance(ref.address, user.address)).toBe(0n)
    expect(await balance(asset.address, user.address)).toBe(1_000n * unit)

    await perform(ref, user, 'deposit', { amount: 100n * unit })
    // A share is worth 1.25 from here on: fewer of them are given, and none too few.
    await stage.mint(asset, ref.address, 25n * unit)
    await call('returnFunds', 25n * unit)
    await perform(ref, user, 'deposit', { amount: 50n * unit })
    expect(await balance(ref.address, user.address)).toBe(140n * unit)
    await perform(ref, user, 'start-redeem-cooldown')
    await wait(20 * 86_400)
    await perform(ref, user, 'redeem', { all: true })
    expect(await balance(asset.address, user.address)).toBe(1_025n * unit)
    await perform(ref, user, 'deposit', { amount: 125n * unit })
    await perform(ref, user, 'start-redeem-cooldown')
    await wait(23 * 86_400)
    await expect(bundle(ref, user, 'redeem', { all: true })).rejects.toThrow('window to redeem closed')
    expect((await look(ref, user)).vaultSpecificData).toMatchObject({ cooldownData: { status: 'expired' } })
    await call('slash', 1_000)
    await expect(bundle(ref, user, 'deposit', { amount: 1n })).rejects.toThrow('slashing')
    await perform(ref, user, 'redeem', { all: true })
    expect(await balance(ref.address, user.address)).toBe(0n)
    const left = await balance(asset.address, user.address)
    // A tenth is gone; the contract rounds its exchange rate up.
    expect(left).toBeGreaterThan(1_012n * unit + unit / 2n - 1_000n)
    expect(left).toBeLessThanOrEqual(1_012n * unit + unit / 2n)

    await expect(bundle(ref, user, 'claim-rewards')).rejects.toThrow('no rewards')
    await stage.mint(reward, ref.address, 9n * unit)
    await call('grant', user.address, 9n * unit)
    expect((await look(ref, user)).rewards).toEqual([{ token: reward.address, amount: 9n * unit }])
    await perform(ref, user, 'claim-rewards')
    expect(await balance(reward.address, user.address)).toBe(9n * unit)
  })
})

describe('Aave v3 (the published @aave/core-v3)', () => {
  let aave: Aave
  let asset: Token
  let ref: VaultRef
  let user: LocalAccount

  beforeAll(async () => {
    const { node } = stage
    asset = await deployToken(node, { decimals: 6, symbol: 'USDX' })
    const other = await deployToken(node, { decimals: 18, symbol: 'COLL' })
    const risk = { ltv: 0.75, liquidationThreshold: 0.8, liquidationBonus: 0.05 }
    const feed = (price: number) => deployFeed(node, { description: 'x / USD', price })
    aave = await deployAave(node, [
      { asset, feed: await feed(1), ...risk },
      { asset: other, feed: await feed(2_000), ...risk },
    ])
    const reserve = aave.reserves[0]
    if (!reserve) throw new Error('no reserve')
    ref = vaultRef(reserve.aToken, asset, { symbol: 'aUSDX', decimals: 6 })
    user = await stage.newUser()
    await stage.mint(asset, user.address, 1_000_000_000n)
    // Somebody borrows, so that the balance grows with every block.
    const borrower = node.accounts[20] ?? '0x'
    await node.send(calls.mintToken(borrower, other.address, borrower, 10n * unit))
    await node.send(calls.approve(borrower, other.address, aave.pool))
    await node.mine()
  })

  const config = async (
    call: ReturnType<ReturnType<typeof aaveConfigCalls>[keyof ReturnType<typeof aaveConfigCalls>]>,
  ) => {
    await stage.node.send(call)
    await stage.node.mine()
  }

  test('supply, grow, redeem a part, redeem all without dust', async () => {
    const { perform, look, balance, wait, node } = stage
    expect(await familyOf(ref)).toBe('aave-v3')
    const made = await perform(ref, user, 'deposit', { amount: 600_000_000n })
    expect(made.actions[1]?.tx.to).toBe(aave.pool)
    expect(await balance(ref.address, user.address)).toBe(600_000_000n)
    const pool = aaveCalls(aave.pool)
    const borrower = node.accounts[20] ?? '0x'
    const collateral = aave.reserves[1]?.asset.address ?? '0x'
    await node.send(pool.supply(borrower, collateral, 10n * unit))
    await node.send(pool.borrow(borrower, asset.address, 100_000_000n))
    await node.mine()
    await wait(86_400 * 30)
    const grown = await look(ref, user)
    expect(grown.shares).toBeGreaterThan(600_000_000n)
    expect(grown.positionValue).toBe(grown.shares)
    await perform(ref, user, 'redeem', { amount: 100_000_000n })
    expect(await balance(asset.address, user.address)).toBe(500_000_000n)
    await expect(stage.bundle(ref, user, 'redeem', { all: true })).rejects.toThrow('can pay out')
    await stage.mint(asset, borrower, 1_000_000_000n)
    await node.send(calls.approve(borrower, asset.address, aave.pool))
    await node.send(pool.repay(borrower, asset.address, 2n ** 256n - 1n))
    await node.mine()
    await perform(ref, user, 'redeem', { all: true })
    expect(await balance(ref.address, user.address)).toBe(0n)
    expect(await balance(asset.address, user.address)).toBeGreaterThan(1_000_000_000n)
  })

  test('cap, pause', async () => {
    const { bundle, look, node } = stage
    const admin = node.accounts[0] ?? '0x'
    const set = aaveConfigCalls(aave.configurator)
    await config(set.setSupplyCap(admin, asset.address, 10n))
    const { depositLimit = -1n } = await look(ref, user)
    // What accrued to the treasury counts towards the cap.
    expect(depositLimit).toBeGreaterThan(9_000_000n)
    expect(depositLimit).toBeLessThanOrEqual(10_000_000n)
    await expect(bundle(ref, user, 'deposit', { amount: depositLimit + 1n })).rejects.toThrow('supply cap')
    await bundle(ref, user, 'deposit', { amount: depositLimit })
    await config(set.setPaused(admin, asset.address, true))
    await expect(bundle(ref, user, 'deposit', { amount: 1_000n })).rejects.toThrow('paused')
    await config(set.setPaused(admin, asset.address, false))
  })
})

test('Compound v3 (contract of our own after Comet)', async () => {
  const { perform, bundle, look, balance, mint, node, wait } = stage
  const asset = await deployToken(node, { decimals: 6 })
  const secures = await deployToken(node, { decimals: 18 })
  const feed = await deployFeed(node, { description: 'x / USD', price: 1 })
  const factors = { borrow: 0.8, liquidate: 0.85, liquidation: 0.93 }
  const comet = await deployComet(node, { token: asset, feed }, [{ token: secures, feed, ...factors }])
  const ref = vaultRef(comet.address, asset, { symbol: 'cTST', decimals: 6 })
  const [user, other] = [await stage.newUser(), node.accounts[22] ?? '0x']
  await mint(asset, user.address, 100_000_000n)
  await mint(secures, other, 1_000n * unit)
  const { supply, withdraw, pause } = cometCalls(comet.address)
  const act = async (...sent: Parameters<typeof node.send>[0][]) => {
    for (const call of sent) await node.send(call)
    await node.mine()
  }
  expect(await familyOf(ref)).toBe('compound-v3')
  await perform(ref, user, 'deposit', { amount: 100_000_000n })
  await act(calls.approve(other, secures.address, comet.address), supply(other, secures.address, 10n ** 21n))
  await act(withdraw(other, asset.address, 90_000_000n))
  await wait(90 * 86_400)
  const worth = await balance(ref.address, user.address)
  expect(worth).toBeGreaterThan(100_000_000n)
  expect((await look(ref, user)).positionValue).toBe(worth)
  await expect(bundle(ref, user, 'redeem', { amount: worth + 1n })).rejects.toThrow(`worth ${worth}`)
  await expect(bundle(ref, user, 'redeem', { all: true })).rejects.toThrow('can pay out 10000000 base units')
  await perform(ref, user, 'redeem', { amount: 1_000_000n })
  await act(pause(other, [true, false, true, false, false]))
  await expect(bundle(ref, user, 'redeem', { all: true })).rejects.toThrow('paused')
  await expect(bundle(ref, user, 'deposit', { amount: 1n })).rejects.toThrow('paused')
  await act(pause(other, [false, false, false, false, false]))
  // 1 unit is less than one unit of principal at this index.
  await expect(bundle(ref, user, 'deposit', { amount: 1n })).rejects.toThrow('too small')
  // Who owes would repay.
  const debtor = await stage.newUser()
  await mint(asset, debtor.address, 1_000n)
  await mint(secures, debtor.address, 100n * unit)
  const sent = (to: Address, { data = '0x' }: { data?: `0x${string}` }) =>
    stage.sign(debtor, { to, chainId: 1, data })
  await sent(secures.address, calls.approve(debtor.address, secures.address, comet.address))
  await sent(comet.address, supply(debtor.address, secures.address, 100n * unit))
  await mint(asset, comet.address, 200_000_000n)
  await sent(comet.address, withdraw(debtor.address, asset.address, 10_000_000n))
  await expect(bundle(ref, debtor, 'deposit', { amount: 1_000n })).rejects.toThrow('would repay the debt')
  await wait(86_400)
  await perform(ref, user, 'redeem', { all: true })
  expect(await balance(comet.address, user.address)).toBe(0n)
  expect(await balance(asset.address, user.address)).toBeGreaterThan(worth)
})

test('MetaMorpho (contract of our own over the published Morpho Blue)', async () => {
  const { perform, bundle, look, balance } = stage
  const { ref, user, call, market } = await metaMorphoScene()
  expect(await familyOf(ref)).toBe('metamorpho')
  await call('addMarket', market, 400n * unit)
  expect((await look(ref, user)).depositLimit).toBe(400n * unit)
  await expect(bundle(ref, user, 'deposit', { amount: 401n * unit })).rejects.toThrow('takes 400')
  await perform(ref, user, 'deposit', { amount: 400n * unit })
  await expect(bundle(ref, user, 'deposit', { amount: 1n })).rejects.toThrow('full')
  await call('setOpen', false)
  await expect(bundle(ref, user, 'deposit', { amount: 1n })).rejects.toThrow('supply queue')
  await perform(ref, user, 'redeem', { amount: 100n * unit })
  await perform(ref, user, 'redeem', { all: true })
  expect(await balance(ref.address, user.address)).toBe(0n)
  expect(await balance(ref.asset.address, user.address)).toBeGreaterThanOrEqual(1_000n * unit - 2n)
})

test("Morpho's Vault V2 (contract of our own after the source): limits of 0 say nothing, the run decides", async () => {
  const { perform, bundle, look, balance } = stage
  const { asset, ref, user, call } = await scene('VaultV2Like')
  expect(await familyOf(ref)).toBe('morpho-vault-v2')
  expect((await look(ref, user)).depositLimit).toBeUndefined()
  await call('bar', user.address, true)
  await expect(bundle(ref, user, 'deposit', { amount: unit })).rejects.toThrow('at the action deposit')
  await call('bar', user.address, false)
  await perform(ref, user, 'deposit', { amount: 400n * unit })
  expect(await balance(ref.address, user.address)).toBe(400n * unit)
  await call('allocate', 300n * unit)
  await expect(bundle(ref, user, 'redeem', { amount: 101n * unit })).rejects.toThrow('at the action redeem')
  await perform(ref, user, 'redeem', { amount: 50n * unit })
  await call('setLiquidityAdapter', true)
  await perform(ref, user, 'redeem', { amount: 100n * unit, assetAddress: ref.address })
  await perform(ref, user, 'redeem', { all: true })
  expect(await balance(ref.address, user.address)).toBe(0n)
  expect(await balance(asset.address, user.address)).toBe(1_000n * unit)
})

async function metaMorphoScene() {
  const { node } = stage
  const asset = await deployToken(node, { decimals: 18 })
  const collateral = await deployToken(node, { decimals: 18, symbol: 'COLL' })
  const feed = await deployFeed(node, { description: 'x / USD', price: 1 })
  const pair = { loan: asset, collateral, loanFeed: feed, collateralFeed: feed, lltv: 0.8 }
  const morpho = await deployMorpho(node, [pair])
  await node.mine()
  const artifact = contract('MetaMorphoLike')
  const address = await stage.deploy(artifact, asset.address, morpho.address)
  const ref = vaultRef(address, asset, { symbol: 'TST', decimals: 18 })
  const user = await stage.newUser()
  await stage.mint(asset, user.address, 1_000n * unit)
  const call = (functionName: string, ...args: readonly unknown[]) =>
    stage.act(address, artifact.abi, functionName, ...args)
  return { ref, user, call, market: morpho.markets[0]?.params }
}
