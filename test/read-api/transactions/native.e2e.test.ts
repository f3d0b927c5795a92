import { type Address, toHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Token } from '../../chain/deploy.ts'
import { contract, published } from '../artifacts.ts'
import { type Stage, startStage, vaultRef } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
})
afterAll(() => stage?.node.stop())

const unit = 10n ** 18n

/** A vault that takes WETH9 (of @aave/core-v3). */
async function scene() {
  const { deploy, act } = stage
  const weth = await deploy(published('@aave/core-v3', 'dependencies/weth/WETH9'))
  const asset: Token = { address: weth, symbol: 'WETH', name: 'Wrapped Ether', decimals: 18 }
  const address = await deploy(contract('GuardedVault'), weth)
  await act(address, contract('GuardedVault').abi, 'set', false, false, 2n ** 255n, 0n)
  const ref = { ...vaultRef(address, asset, { symbol: 'GRD', decimals: 18 }), wrappedNative: weth }
  const native = { assetAddress: '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee' as Address }
  return { ref, native, weth }
}

test("the chain's own coin is wrapped, deposited and redeemed", async () => {
  const { perform, bundle, balance, newUser, sign } = stage
  const { ref, native, weth } = await scene()
  const user = await newUser()
  await expect(bundle(ref, user, 'deposit', { ...native, all: true })).rejects.toThrow('nothing for gas')
  await expect(bundle(ref, user, 'deposit', { ...native, amount: 101n * unit })).rejects.toThrow('holds')
  const made = await bundle(ref, user, 'deposit', { ...native, amount: 3n * unit, simulate: true })
  expect(made.actions.map(({ name, tx }) => [name, tx.value])).toEqual([
    ['wrap', String(3n * unit)],
    ['approve', undefined],
    ['deposit', undefined],
  ])
  expect(made.actions[0]?.simulation).toMatchObject({
    tokensSpent: { native: String(3n * unit) },
    tokensReceived: { WETH: String(3n * unit) },
  })
  const [wrap] = made.actions
  if (!wrap) throw new Error('no wrap')
  expect((await sign(user, wrap.tx)).landed).toBe(true)
  expect((await bundle(ref, user, 'deposit', { ...native, amount: 3n * unit })).currentActionIndex).toBe(1)
  await perform(ref, user, 'deposit', { ...native, amount: 3n * unit })
  expect(await balance(ref.address, user.address)).toBe(3n * unit)
  await expect(bundle(ref, user, 'redeem', { ...native, all: true })).rejects.toThrow(
    'pays out the wrapped token',
  )
  await perform(ref, user, 'redeem', { all: true })
  expect(await balance(weth, user.address)).toBe(3n * unit)
})

test('wrapped coins in the wallet count, the rest is wrapped, and something is left for gas', async () => {
  const { perform, bundle, balance, newUser, sign, node } = stage
  const { ref, native, weth } = await scene()
  const user = await newUser()
  const wrap = (value: bigint) =>
    sign(user, { to: weth, chainId: 1, data: '0xd0e30db0', value: String(value) })
  const deposit = (amount: bigint) => bundle(ref, user, 'deposit', { ...native, amount })
  expect((await wrap(3n * unit)).landed).toBe(true)
  await node.rpc('anvil_setBalance', [user.address, toHex(5n * unit)])
  expect(await deposit(2n * unit)).toMatchObject({ currentActionIndex: 1 })
  await expect(deposit(9n * unit)).rejects.toThrow(`holds ${5n * unit}`)
  await expect(deposit(8n * unit)).rejects.toThrow(
    `would have to wrap ${5n * unit}, and to pay for gas besides`,
  )
  const made = await perform(ref, user, 'deposit', { ...native, amount: 6n * unit })
  expect(made).toMatchObject({
    currentActionIndex: 0,
    actions: [{ name: 'wrap', tx: { value: String(3n * unit) } }, {}, {}],
  })
  expect(await balance(ref.address, user.address)).toBe(6n * unit)
  expect(await balance(weth, user.address)).toBe(0n)
  const left = await node.client.getBalance({ address: user.address })
  await expect(deposit(left)).rejects.toThrow('to pay for gas')
})
