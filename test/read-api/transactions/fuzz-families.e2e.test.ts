import fc from 'fast-check'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RefusedError } from '../../../read-api/errors.ts'
import type { ActionName, VaultRef } from '../../../read-api/transactions/family.ts'
import { deployAave } from '../../chain/aave.ts'
import { deployFeed, deployToken, type Token } from '../../chain/deploy.ts'
import { deployMorpho } from '../../chain/morpho.ts'
import { contract } from '../artifacts.ts'
import { type Stage, startStage, vaultRef } from './stage.ts'

/** Any order of actions with any amount, from one base unit to more than the balance: what is handed out lands. */

let stage: Stage
const tally: Record<string, { landed: number; refused: number }> = {}
beforeAll(async () => {
  stage = await startStage()
})
afterAll(async () => {
  await stage?.node.stop()
  console.info(JSON.stringify(tally))
})

interface Scene {
  ref: VaultRef
  actions: readonly ActionName[]
  /** What the world does between the actions of the user. */
  meanwhile?(user: LocalAccount): Promise<void>
}

const scenes: Record<string, (asset: Token) => Promise<Scene>> = {
  'aave-v3': async asset => {
    const feed = await deployFeed(stage.node, { description: 'x / USD', price: 1 })
    const risk = { ltv: 0.75, liquidationThreshold: 0.8, liquidationBonus: 0.05 }
    const aave = await deployAave(stage.node, [{ asset, feed, ...risk }])
    return { ref: refOf(aave.reserves[0]?.aToken ?? '0x', asset), actions: ['deposit', 'redeem'] }
  },
  'compound-v3': async asset => {
    const artifact = contract('CometLike')
    const address = await stage.deploy(artifact, asset.address, asset.decimals)
    let index = 10n ** 15n
    return {
      ref: refOf(address, asset),
      actions: ['deposit', 'redeem'],
      async meanwhile() {
        index += index / 37n
        await stage.act(address, artifact.abi, 'setIndex', index)
      },
    }
  },
  metamorpho: async asset => {
    const collateral = await deployToken(stage.node, { decimals: 18 })
    const feed = await deployFeed(stage.node, { description: 'x / USD', price: 1 })
    const pair = { loan: asset, collateral, loanFeed: feed, collateralFeed: feed, lltv: 0.8 }
    const morpho = await deployMorpho(stage.node, [pair])
    const artifact = contract('MetaMorphoLike')
    const address = await stage.deploy(artifact, asset.address, morpho.address)
    await stage.act(address, artifact.abi, 'addMarket', morpho.markets[0]?.params, 2n ** 100n)
    return { ref: refOf(address, asset), actions: ['deposit', 'redeem'] }
  },
  'staked-usde': async asset => ({
    ref: refOf(await stage.deploy(contract('StakedUsdeLike'), asset.address, 60), asset),
    actions: ['deposit', 'start-redeem-cooldown', 'redeem'],
    meanwhile: () => stage.wait(40),
  }),
  'staked-token': async asset => ({
    ref: refOf(await stage.deploy(contract('StakedTokenLike'), asset.address, asset.address), asset),
    actions: ['deposit', 'start-redeem-cooldown', 'redeem'],
    meanwhile: () => stage.wait(11 * 86_400),
  }),
  erc7540: async asset => {
    const artifact = contract('AsyncVault')
    const address = await stage.deploy(artifact, asset.address)
    return {
      ref: refOf(address, asset),
      actions: ['request-deposit', 'claim-deposit', 'request-redeem', 'claim-redeem', 'cancel-deposit'],
      meanwhile: user => stage.act(address, artifact.abi, 'fulfil', user.address),
    }
  },
}

const refOf = (address: VaultRef['address'], asset: Token) =>
  vaultRef(address, asset, { symbol: 'SHR', decimals: asset.decimals })

test.each(Object.keys(scenes))('%s', async name => {
  const { newUser, mint, perform, balance, preparer } = stage
  const asset = await deployToken(stage.node, { decimals: 6 })
  const scene = await scenes[name]?.(asset)
  if (!scene) throw new Error(name)
  const { ref, actions, meanwhile } = scene
  expect((await preparer.bind(ref)).family).toBe(name)
  const user = await newUser()
  await mint(asset, user.address, 1_000_000_007n)
  const count = { landed: 0, refused: 0 }
  tally[name] = count
  const amount = fc.oneof(
    fc.constant('all' as const),
    fc.bigInt({ min: 1n, max: 9n }),
    fc.bigInt({ min: 1n, max: 1_500_000_000n }),
  )
  const step = fc.record({
    action: fc.constantFrom(...actions),
    amount,
    inShares: fc.boolean(),
    passes: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(step, async ({ action, amount, inShares, passes }) => {
      const of = inShares && !action.endsWith('deposit') ? ref.address : asset.address
      const wish = amount === 'all' ? { all: true } : { amount }
      // perform expects every transaction to land.
      await perform(ref, user, action, { ...wish, assetAddress: of }).then(
        () => count.landed++,
        (error: unknown) => {
          if (!(error instanceof RefusedError)) throw error
          count.refused++
        },
      )
      if (passes) await meanwhile?.(user)
    }),
    { numRuns: 40, seed: 11, endOnFailure: true },
  )
  expect(count.landed).toBeGreaterThan(5)
  expect(count.refused).toBeGreaterThan(5)
  expect(await balance(asset.address, user.address)).toBeLessThanOrEqual(1_000_000_007n * 10n)
})
