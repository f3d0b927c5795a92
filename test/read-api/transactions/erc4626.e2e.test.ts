import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RefusedError } from '../../../read-api/http/errors.ts'
import { deployToken, deployVault, type Vault } from '../../chain/deploy.ts'
import { contract } from '../artifacts.ts'
import { type Stage, startStage, vaultRef } from './stage.ts'

describe('ERC-4626 (OpenZeppelin), signed and sent', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage()
  })
  afterAll(() => stage?.node.stop())

  const refOf = (vault: Vault) => vaultRef(vault.address, vault.asset, vault)

  test('context, bundle, sign, send, balances as promised, context again', async () => {
    const { node, newUser, mint, balance, bundle, sign, look, perform } = stage
    const vault = await deployVault(node, { assetDecimals: 6, offset: 12 })
    const ref = refOf(vault)
    const user = await newUser()
    await mint(vault.asset, user.address, 1_000_000n)

    const before = await look(ref, user)
    expect(before).toMatchObject({ shares: 0n, assets: 1_000_000n, positionValue: 0n })
    const first = await bundle(ref, user, 'deposit', { amount: 600_000n, simulate: true })
    expect(first.currentActionIndex).toBe(0)
    expect(first.actions.map(({ name }) => name)).toEqual(['approve', 'deposit'])
    expect(first.actions[1]?.simulation).toEqual({
      url: '',
      status: 'success',
      tokensSpent: { [vault.asset.symbol]: '600000' },
      tokensReceived: { [vault.symbol]: '600000000000000000' },
    })
    const [approve] = first.actions
    if (!approve) throw new Error('no approval')
    expect((await sign(user, approve.tx)).landed).toBe(true)

    const second = await bundle(ref, user, 'deposit', { amount: 600_000n })
    expect(second.currentActionIndex).toBe(1)
    expect(second.actions).toHaveLength(2)
    await perform(ref, user, 'deposit', { amount: 600_000n })
    expect(await balance(vault.asset.address, user.address)).toBe(400_000n)
    expect(await balance(vault.address, user.address)).toBe(600_000n * 10n ** 12n)

    const after = await look(ref, user)
    expect(after).toMatchObject({ shares: 600_000n * 10n ** 12n, assets: 400_000n, positionValue: 600_000n })

    await perform(ref, user, 'redeem', { amount: 100_000n })
    expect(await balance(vault.asset.address, user.address)).toBe(500_000n)
    await perform(ref, user, 'redeem', { amount: 10n ** 17n, assetAddress: vault.address })
    expect(await balance(vault.asset.address, user.address)).toBe(600_000n)
    await perform(ref, user, 'redeem', { all: true })
    expect(await balance(vault.address, user.address)).toBe(0n)
    expect(await balance(vault.asset.address, user.address)).toBe(1_000_000n)
  })

  test('a deposit whose shares are worth less than it is refused', async () => {
    const { node, newUser, mint, bundle, perform } = stage
    // One share, and a gift that makes it dear: who deposits one and a half gets one.
    const vault = await deployVault(node, { assetDecimals: 6, offset: 0 })
    const ref = refOf(vault)
    const first = await newUser()
    await mint(vault.asset, first.address, 1n)
    await perform(ref, first, 'deposit', { amount: 1n })
    await mint(vault.asset, vault.address, 1_000_000_000n)
    const user = await newUser()
    await mint(vault.asset, user.address, 2_000_000_000_000n)
    await expect(bundle(ref, user, 'deposit', { amount: 950_000_000n })).rejects.toThrow(
      /would give \S+ worth 6500\d+ for 950000000 .*less than 99 %/,
    )
    expect((await bundle(ref, user, 'deposit', { amount: 1_000_000_000_000n })).isSimulated).toBe(true)
  })

  test('a token like USDT is reset to zero first', async () => {
    const { node, newUser, mint, balance, bundle, sign, perform } = stage
    const asset = await deployToken(node, { decimals: 6, symbol: 'USDT', returnsNothing: true })
    const vault = await deployVault(node, { asset })
    const ref = refOf(vault)
    const user = await newUser()
    await mint(asset, user.address, 1_000n)
    const small = await bundle(ref, user, 'deposit', { amount: 10n })
    expect((await sign(user, small.actions[0]?.tx ?? fail())).landed).toBe(true)
    const big = await bundle(ref, user, 'deposit', { amount: 1_000n })
    expect(big.actions.map(({ name }) => name)).toEqual(['reset-approval', 'approve', 'deposit'])
    await perform(ref, user, 'deposit', { amount: 1_000n })
    expect(await balance(vault.address, user.address)).toBe(1_000n)
  })

  test('what cannot be done is refused with the reason', async () => {
    const { node, newUser, mint, deploy, act, bundle, perform, look } = stage
    const asset = await deployToken(node, { decimals: 18 })
    const artifact = contract('GuardedVault')
    const address = await deploy(artifact, asset.address)
    const ref = vaultRef(address, asset, { symbol: 'GRD', decimals: 18 })
    const set = (paused: boolean, listed: boolean, cap: bigint, illiquid: bigint) =>
      act(address, artifact.abi, 'set', paused, listed, cap, illiquid)
    const user = await newUser()
    await mint(asset, user.address, 1_000n)
    const huge = 2n ** 255n
    const deposit = (amount: bigint) => bundle(ref, user, 'deposit', { amount })
    await expect(deposit(1_001n)).rejects.toThrow('holds 1000 base units')
    await expect(deposit(0n)).rejects.toThrow('amount is 0')
    await expect(bundle(ref, user, 'deposit', { amount: 1n, all: true })).rejects.toThrow(
      'exclude each other',
    )
    await expect(bundle(ref, user, 'deposit')).rejects.toThrow('amount or all=true')
    await expect(bundle(ref, user, 'claim-redeem')).rejects.toThrow('has no claim-redeem')
    await expect(bundle(ref, user, 'redeem', { all: true })).rejects.toThrow('holds no GRD')
    await perform(ref, user, 'deposit', { amount: 500n })

    await set(true, false, huge, 0n)
    await expect(deposit(10n)).rejects.toThrow('paused')
    await expect(bundle(ref, user, 'redeem', { all: true })).rejects.toThrow('paused')
    expect((await look(ref, user)).depositLimit).toBe(0n)
    await set(false, false, 600n, 0n)
    await expect(deposit(101n)).rejects.toThrow('takes 100 base units')
    await set(false, false, 500n, 0n)
    await expect(deposit(1n)).rejects.toThrow('full')
    await set(false, true, huge, 0n)
    await expect(deposit(10n)).rejects.toThrow('would fail on chain at the action deposit')
    await set(false, false, huge, 400n)
    await expect(bundle(ref, user, 'redeem', { all: true })).rejects.toThrow('100 base units of GRD')
    await expect(bundle(ref, user, 'redeem', { amount: 101n })).rejects.toBeInstanceOf(RefusedError)
    await perform(ref, user, 'redeem', { amount: 100n })
  })
})

function fail(): never {
  throw new Error('missing')
}
