import type { Address } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nrtFigures, nrtViews, type PriceSource } from '../../../read-api/nrt/nrt.ts'
import type { VaultRef } from '../../../read-api/transactions/family.ts'
import { deployAave } from '../../chain/aave.ts'
import { deployComet } from '../../chain/comet.ts'
import { calls, deployFeed, deployToken, deployVault, donateYield } from '../../chain/deploy.ts'
import { contract } from '../artifacts.ts'
import { type Stage, startStage, vaultRef } from '../transactions/stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
})
afterAll(() => stage?.node.stop())

async function figuresOf(vault: VaultRef, price?: PriceSource, knownPrice?: number) {
  const { figures, family } = await stage.preparer.bind(vault)
  const inputs = { vault: { assetDecimals: vault.asset.decimals }, figures, price, knownPrice }
  const { block, values } = await stage.reader.read('mainnet', nrtViews(inputs))
  return { family, ...nrtFigures(inputs, values, block.timestamp) }
}

test('an ERC-4626 vault, its feed, and a vault over it', async () => {
  const { node, newUser, perform, mint } = stage
  const vault = await deployVault(node, { assetDecimals: 6, offset: 12 })
  const ref = vaultRef(vault.address, vault.asset, vault)
  const user = await newUser()
  await mint(vault.asset, user.address, 4_000_000n)
  await perform(ref, user, 'deposit', { amount: 4_000_000n })
  await donateYield(node, { vault, assets: 1_000_000n })
  const feed = await deployFeed(node, { description: 'x / USD', price: 0.9987 })
  const price: PriceSource = { constant: 1, feed: feed.proxy, vaults: [] }
  expect(await figuresOf(ref, price)).toEqual({
    family: 'erc-4626',
    totalSupply: '4000000000000000000',
    totalAssets: '5000000',
    // OpenZeppelin's virtual share and asset: 10^18 * 5,000,001 / (4 * 10^18 + 10^12), rounded down.
    sharePrice: 1.249999,
    underlyingAssetPrice: 0.9987,
  })
  const outer = await deployVault(node, { asset: vault, nested: true })
  const nested = { vault: vault.address, decimals: 18, assetDecimals: 6 }
  const figures = await figuresOf(vaultRef(outer.address, vault, outer), { ...price, vaults: [nested] })
  expect(figures.underlyingAssetPrice).toBeCloseTo(1.249999 * 0.9987, 9)
  expect(figures).toMatchObject({ totalSupply: '0', totalAssets: '0', sharePrice: 1 })
})

test('a price that cannot be read is unknown, not zero', async () => {
  const { node } = stage
  const vault = await deployVault(node, { assetDecimals: 6 })
  const ref = vaultRef(vault.address, vault.asset, vault)
  const nothing: Address = '0x00000000000000000000000000000000000000aa'
  const broken: PriceSource = { constant: 1, feed: nothing, vaults: [] }
  expect((await figuresOf(ref, broken, 7)).underlyingAssetPrice).toBeUndefined()
  const feed = await deployFeed(node, { description: 'x / USD', price: 1 })
  await node.send(calls.reportPrice(node.accounts[0] ?? '0x', feed, -1))
  await node.mine()
  expect((await figuresOf(ref, { ...broken, feed: feed.proxy })).underlyingAssetPrice).toBeUndefined()
  expect((await figuresOf(ref, { constant: 1, vaults: [] })).underlyingAssetPrice).toBe(1)
  expect((await figuresOf(ref, undefined, 3.5)).underlyingAssetPrice).toBe(3.5)
})

test('supply positions are worth one asset a share; a slashed stake less', async () => {
  const { node, newUser, perform, mint, deploy, act } = stage
  const asset = await deployToken(node, { decimals: 6, symbol: 'USDX' })
  const user = await newUser()
  await mint(asset, user.address, 3_000_000n)
  const feed = await deployFeed(node, { description: 'x / USD', price: 1 })
  const risk = { ltv: 0.75, liquidationThreshold: 0.8, liquidationBonus: 0.05 }
  const aave = await deployAave(node, [{ asset, feed, ...risk }])
  const aToken = vaultRef(aave.reserves[0]?.aToken ?? '0x', asset, { symbol: 'aUSDX', decimals: 6 })
  await perform(aToken, user, 'deposit', { amount: 1_000_000n })
  const whole = { totalSupply: '1000000', totalAssets: '1000000', sharePrice: 1 }
  expect(await figuresOf(aToken)).toMatchObject({ family: 'aave-v3', ...whole })
  const { address } = await deployComet(node, { token: asset, feed }, [])
  const comet = vaultRef(address, asset, { symbol: 'c', decimals: 6 })
  await perform(comet, user, 'deposit', { amount: 1_000_000n })
  expect(await figuresOf(comet)).toMatchObject({ family: 'compound-v3', ...whole })

  const staked = await deployToken(node, { decimals: 18 })
  await mint(staked, user.address, 10n ** 18n)
  const artifact = contract('StakedTokenLike')
  const stake = await deploy(artifact, staked.address, staked.address)
  const ref = vaultRef(stake, staked, { symbol: 'stk', decimals: 18 })
  await perform(ref, user, 'deposit', { amount: 10n ** 18n })
  await act(stake, artifact.abi, 'slash', 2_500)
  const figures = await figuresOf(ref)
  expect(figures.totalSupply).toBe(String(10n ** 18n))
  expect(figures.sharePrice).toBeCloseTo(0.75, 12)
})
