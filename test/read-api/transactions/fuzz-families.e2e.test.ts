import fc from 'fast-check'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RefusedError } from '../../../read-api/http/errors.ts'
import type { ActionName, VaultRef } from '../../../read-api/transactions/family.ts'
import { deployAave } from '../../chain/aave.ts'
import { cometCalls, deployComet } from '../../chain/comet.ts'
import { calls, deployFeed, deployToken, type Token } from '../../chain/deploy.ts'
import { evkAbi } from '../../chain/evk.ts'
import { deployMorpho } from '../../chain/morpho.ts'
import { contract } from '../artifacts.ts'
import { deployEuler, oweTo } from './euler-stage.ts'
import { type Stage, startStage, vaultRef } from './stage.ts'

/**
 * Any order of actions with any amount, from one base unit to more than the balance, for every family and kind of token:
 * what is handed out lands, gives what its simulation said, and the next context agrees with the contracts.
 */

let stage: Stage
const tally: Record<string, { landed: number; refused: number }> = {}
beforeAll(async () => {
  stage = await startStage()
})
afterAll(async () => {
  await stage?.node.stop()
  console.info(JSON.stringify(tally))
  // Neither side of the rule may go untried.
  for (const [name, { landed, refused }] of Object.entries(tally)) {
    expect(landed, name).toBeGreaterThan(20)
    expect(refused, name).toBeGreaterThan(20)
  }
})

interface Scene {
  ref: VaultRef
  actions: readonly ActionName[]
  /** What the world does between the actions of the user. */
  meanwhile?(user: LocalAccount): Promise<void>
  /** `redeem` pays the amount asked for at once, and `all` leaves no share. */
  paysAtOnce?: boolean
}

const day = 86_400
const refOf = (address: VaultRef['address'], asset: Token) =>
  vaultRef(address, asset, { symbol: 'SHR', decimals: asset.decimals })
const whole = (token: Token, n: bigint) => n * 10n ** BigInt(token.decimals)

/** Two others: one has the asset to lend, one has collateral to borrow against. */
async function others(asset: Token, collateral: Token) {
  const [lender = '0x', debtor = '0x'] = stage.node.accounts.slice(25)
  await stage.mint(asset, lender, whole(asset, 1_000n))
  await stage.mint(collateral, debtor, whole(collateral, 1_000n))
  return { lender, debtor }
}

const scenes: Record<string, (asset: Token) => Promise<Scene>> = {
  'aave-v3': async asset => {
    const feed = await deployFeed(stage.node, { description: 'x / USD', price: 1 })
    const risk = { ltv: 0.75, liquidationThreshold: 0.8, liquidationBonus: 0.05 }
    const aave = await deployAave(stage.node, [{ asset, feed, ...risk }])
    return {
      ref: refOf(aave.reserves[0]?.aToken ?? '0x', asset),
      actions: ['deposit', 'redeem'],
      paysAtOnce: true,
    }
  },
  'compound-v3': async asset => {
    const { node } = stage
    const collateral = await deployToken(node, { decimals: 18 })
    const feed = await deployFeed(node, { description: 'x / USD', price: 1 })
    const factors = { borrow: 0.8, liquidate: 0.85, liquidation: 0.93 }
    const market = await deployComet(node, { token: asset, feed }, [{ token: collateral, feed, ...factors }])
    const { lender, debtor } = await others(asset, collateral)
    const { supply, withdraw } = cometCalls(market.address)
    for (const [who, token] of [
      [lender, asset],
      [debtor, collateral],
    ] as const) {
      await node.send(calls.approve(who, token.address, market.address))
      await node.send(supply(who, token.address, whole(token, 1_000n)))
    }
    await node.mine()
    await node.send(withdraw(debtor, asset.address, whole(asset, 700n)))
    await node.mine()
    return {
      ref: refOf(market.address, asset),
      actions: ['deposit', 'redeem'],
      meanwhile: () => stage.wait(30 * day),
      paysAtOnce: true,
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
    return { ref: refOf(address, asset), actions: ['deposit', 'redeem'], paysAtOnce: true }
  },
  'euler-v2': async asset => {
    const collateral = await deployToken(stage.node, { decimals: 18 })
    const { evc, vaults } = await deployEuler(stage, { lent: asset, secures: collateral })
    await stage.act(vaults.lent, evkAbi, 'setLTV', vaults.secures, 9_000, 9_000, 0)
    const { lender, debtor } = await others(asset, collateral)
    await stage.node.send(calls.approve(lender, asset.address, vaults.lent))
    await stage.node.send(calls.deposit(lender, vaults.lent, whole(asset, 1_000n)))
    const secured = { vault: vaults.secures, token: collateral, amount: whole(collateral, 1_000n) }
    await oweTo(stage, debtor, evc, secured, { vault: vaults.lent, amount: whole(asset, 700n) })
    return {
      ref: refOf(vaults.lent, asset),
      actions: ['deposit', 'redeem'],
      meanwhile: () => stage.wait(30 * day),
      paysAtOnce: true,
    }
  },
  'staked-usde': async asset => ({
    ref: refOf(await stage.deploy(contract('StakedUsdeLike'), asset.address, 60), asset),
    actions: ['deposit', 'start-redeem-cooldown', 'redeem'],
    meanwhile: () => stage.wait(40),
  }),
  'staked-token': async asset => ({
    ref: refOf(await stage.deploy(contract('StakedTokenLike'), asset.address, asset.address), asset),
    actions: ['deposit', 'start-redeem-cooldown', 'redeem'],
    meanwhile: () => stage.wait(11 * day),
  }),
  'erc-7540': async asset => {
    const artifact = contract('AsyncVault')
    const address = await stage.deploy(artifact, asset.address)
    return {
      ref: refOf(address, asset),
      actions: [
        'request-deposit',
        'claim-deposit',
        'request-redeem',
        'claim-redeem',
        'cancel-deposit',
        'cancel-redeem',
      ],
      meanwhile: user => stage.act(address, artifact.abi, 'fulfil', user.address),
    }
  },
}

const feeToken = async (): Promise<Token> => {
  const address = await stage.deploy(contract('FeeToken'), 'Fee', 'FEE', 100n)
  return { address, symbol: 'FEE', name: 'Fee', decimals: 18 }
}
const tokens: Record<string, () => Promise<Token>> = {
  ...Object.fromEntries(
    [0, 6, 8, 18, 27].map(decimals => [
      `${decimals} decimals`,
      () => deployToken(stage.node, { decimals, symbol: 'AST' }),
    ]),
  ),
  'no answer': () => deployToken(stage.node, { decimals: 6, symbol: 'AST', returnsNothing: true }),
  'a fee': feeToken,
}

describe.each(Object.keys(scenes))('%s', name => {
  test.each(Object.keys(tokens))('a token of %s', async kind => {
    const { newUser, mint, preparer } = stage
    const asset = await tokens[kind]?.()
    const scene = asset && (await scenes[name]?.(asset))
    if (!scene) throw new Error(name)
    const { ref, actions, meanwhile } = scene
    expect((await preparer.bind(ref)).family).toBe(name)
    const user = await newUser()
    const start = whole(asset, 1_000n) + 7n
    await mint(asset, user.address, start)
    const count = tally[name] ?? { landed: 0, refused: 0 }
    tally[name] = count
    const step = fc.record({
      action: fc.constantFrom(...actions),
      amount: fc.oneof(
        fc.constant('all' as const),
        fc.bigInt({ min: 1n, max: 9n }),
        fc.bigInt({ min: 1n, max: (start * 3n) / 2n }),
        fc.bigInt({ min: start / 50n, max: start / 3n }),
      ),
      inShares: fc.boolean(),
      passes: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(step, async ({ passes, ...wish }) => {
        await attempt(scene, user, wish).then(
          () => count.landed++,
          (error: unknown) => {
            if (!(error instanceof RefusedError)) throw error
            count.refused++
          },
        )
        await agree(ref, user)
        if (passes) await meanwhile?.(user)
      }),
      { numRuns: 16, seed: 11, endOnFailure: true },
    )
  })
})

/** The context after it says what the tokens say. */
async function agree(ref: VaultRef, user: LocalAccount) {
  const { shares, assets, block } = await stage.look(ref, user)
  expect(block.number).toBe(BigInt((await stage.node.head()).number))
  expect([shares, assets]).toEqual([
    await stage.balance(ref.share.address, user.address),
    await stage.balance(ref.asset.address, user.address),
  ])
}

/** Signs and sends what is handed out, and holds it against what was promised. */
async function attempt(
  { ref, paysAtOnce }: Scene,
  user: LocalAccount,
  { action, amount, inShares }: { action: ActionName; amount: bigint | 'all'; inShares: boolean },
) {
  const { balance, perform } = stage
  const hold = async () => ({
    assets: await balance(ref.asset.address, user.address),
    shares: await balance(ref.share.address, user.address),
  })
  const ofShares = inShares && !action.endsWith('deposit')
  const before = await hold()
  const { actions } = await perform(ref, user, action, {
    ...(amount === 'all' ? { all: true } : { amount }),
    assetAddress: ofShares ? ref.share.address : ref.asset.address,
    simulate: true,
  })
  const after = await hold()
  const { tokensReceived = {}, tokensSpent = {}, status } = actions.at(-1)?.simulation ?? {}
  expect(status).toBe('success')
  const said = (symbol: string) => BigInt(tokensReceived[symbol] ?? 0) - BigInt(tokensSpent[symbol] ?? 0)
  // Interest of a block or two lies between the two; shares of a Comet or an aToken are worth a rounded amount.
  for (const [was, now, promised] of [
    [before.assets, after.assets, said(ref.asset.symbol)],
    [before.shares, after.shares, said(ref.share.symbol)],
  ] as const) {
    const off = now - was - promised
    expect(off < 0n ? -off : off).toBeLessThanOrEqual(2n + (was + now) / 1_000_000n)
  }
  if (action === 'deposit' || action === 'request-deposit')
    expect(before.assets - after.assets).toBe(amount === 'all' ? before.assets : amount)
  if (action !== 'redeem' || !paysAtOnce) return
  if (amount === 'all') expect(after.shares).toBe(0n)
  else if (!ofShares && ref.asset.symbol !== 'FEE') expect(after.assets - before.assets).toBe(amount)
}
