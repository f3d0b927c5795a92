import { MarketUtils } from '@morpho-org/blue-sdk'
import fc from 'fast-check'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RefusedError } from '../../../read-api/errors.ts'
import { borrowActions } from '../../../read-api/transactions/borrow/family.ts'
import { type Lending, type Place, startLending } from './borrow-stage.ts'

/**
 * Any order of actions of any size, from one base unit to more than the balance, with time passing between bundle and
 * transaction: what is handed out lands, the balances are the contract's own, and at the end everything can be undone.
 */

let on: Lending
const tally: Record<string, Record<string, number>> = {}
beforeAll(async () => {
  on = await startLending()
})
afterAll(async () => {
  await on?.node.stop()
  console.info(JSON.stringify(tally))
})

interface Scene {
  places: readonly Place[]
  /** What the contract has of the user, and what should be 0 in the end. */
  views(place: Place, user: LocalAccount): Promise<{ supplied: bigint; borrowed: bigint }>
  left(user: LocalAccount): Promise<readonly bigint[]>
}

const scenes: Record<string, () => Scene> = {
  'aave-v3': () => {
    const tokens = [on.tokens.usdc, on.tokens.usdt, on.tokens.weth]
    const views = async ({ asset }: Place, user: LocalAccount) => {
      const token = tokens.find(({ address }) => address === asset.info.address)
      if (!token) throw new Error('no token')
      const { aToken, variableDebtToken } = on.tokensOf(token)
      return {
        supplied: await on.balance(aToken, user.address),
        borrowed: await on.balance(variableDebtToken, user.address),
      }
    }
    return {
      places: tokens.map(token => on.inAave(token)),
      views,
      left: async user =>
        (await Promise.all(tokens.map(token => views(on.inAave(token), user)))).flatMap(
          ({ supplied, borrowed }) => [supplied, borrowed],
        ),
    }
  },
  'morpho-blue': () => ({
    places: [on.inMorpho('loan', 1), on.inMorpho('loan', 1), on.inMorpho('collateral', 1)],
    async views(place, user) {
      const [supplyShares, borrowShares, collateral] = await on.position(place, user)
      if (place.asset.side === 'collateral') return { supplied: collateral, borrowed: 0n }
      const totals = await on.accrued(place)
      return {
        supplied: MarketUtils.toSupplyAssets(supplyShares, totals),
        borrowed: MarketUtils.toBorrowAssets(borrowShares, totals),
      }
    },
    left: user => on.position(on.inMorpho('loan', 1), user),
  }),
}

test.each(Object.keys(scenes))('%s', { timeout: 120_000 }, async name => {
  const scene = scenes[name]?.()
  if (!scene) throw new Error(name)
  const user = await on.newUser()
  const { usdc, usdt, weth } = on.tokens
  for (const token of [usdc, usdt]) await on.mint(token, user.address, 5_000n * 10n ** 6n + 3n)
  await on.mint(weth, user.address, 5n * 10n ** 18n + 7n)
  const [last] = scene.places.slice(-1)
  if (last) await on.perform(last, user, 'supply', { amount: 2n * 10n ** 18n })
  const count: Record<string, number> = { refused: 0 }
  tally[name] = count
  const step = fc.record({
    place: fc.constantFrom(...scene.places),
    action: fc.constantFrom(...borrowActions),
    /** A share of 1.5 times what the wallet has or owes, a few units, or all. */
    size: fc.oneof(
      fc.constant('all' as const),
      fc.bigInt({ min: 1n, max: 9n }),
      fc.bigInt({ min: 1_000n, max: 1_500_000n }),
    ),
    after: fc.constantFrom(0, 0, 12, 600, 3_000),
    between: fc.constantFrom(0, 60, 86_400, 900_000),
  })
  const run = async ({
    place,
    action,
    size,
    after,
    between,
  }: typeof step extends fc.Arbitrary<infer T> ? T : never) => {
    const { balances, limits } = await on.look(place, user)
    const base = {
      supply: balances.wallet,
      withdraw: balances.supplied,
      borrow: limits.maxBorrow,
      repay: balances.borrowed,
    }
    const amount = size === 'all' || size < 10n ? size : (base[action] * size) / 1_000_000n
    const wish = amount === 'all' ? { all: true } : { amount }
    await on.perform(place, user, action, { ...wish, after }).then(
      () => {
        count[action] = (count[action] ?? 0) + 1
      },
      (error: unknown) => {
        if (!(error instanceof RefusedError)) throw error
        count['refused'] = (count['refused'] ?? 0) + 1
      },
    )
    if (between > 0) await on.wait(between)
    const { balances: now } = await on.look(place, user)
    expect({ supplied: now.supplied, borrowed: now.borrowed }).toEqual(await scene.views(place, user))
  }
  await fc.assert(fc.asyncProperty(step, run), { numRuns: 80, seed: 9, endOnFailure: true })
  for (const action of borrowActions) expect(count[action], action).toBeGreaterThan(2)
  expect(count['refused']).toBeGreaterThan(5)

  for (const token of [usdc, usdt]) await on.mint(token, user.address, 20_000n * 10n ** 6n)
  await on.mint(weth, user.address, 20n * 10n ** 18n)
  for (const action of ['repay', 'withdraw'] as const) {
    for (const place of scene.places) {
      const { borrowed, supplied } = (await on.look(place, user)).balances
      if (action === 'repay' ? borrowed > 0n : supplied > 0n)
        await on.perform(place, user, action, { all: true, after: 10 * 86_400 })
    }
  }
  for (const left of await scene.left(user)) expect(left).toBe(0n)
})
