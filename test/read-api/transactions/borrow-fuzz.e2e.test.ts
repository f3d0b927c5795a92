import { MarketUtils } from '@morpho-org/blue-sdk'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lending, type Place, startLending } from './borrow-stage.ts'
import { wander } from './borrow-walk.ts'

let on: Lending
const tally: Record<string, Record<string, number>> = {}
beforeAll(async () => {
  on = await startLending()
})
afterAll(async () => {
  await on?.node.stop()
  console.info(JSON.stringify(tally))
})

/** A user with some of everything, and collateral in `secured`. */
async function begin(secured: Place) {
  const user = await on.newUser()
  const { usdc, usdt, weth } = on.tokens
  for (const token of [usdc, usdt]) await on.mint(token, user.address, 5_000n * 10n ** 6n + 3n)
  await on.mint(weth, user.address, 5n * 10n ** 18n + 7n)
  await on.perform(secured, user, 'supply', { amount: 2n * 10n ** 18n })
  return user
}
const refill = (user: LocalAccount) => async () => {
  const { usdc, usdt, weth } = on.tokens
  for (const token of [usdc, usdt]) await on.mint(token, user.address, 20_000n * 10n ** 6n)
  await on.mint(weth, user.address, 20n * 10n ** 18n)
}

test('Aave v3', { timeout: 120_000 }, async () => {
  const tokens = [on.tokens.usdc, on.tokens.usdt, on.tokens.weth]
  const user = await begin(on.inAave(on.tokens.weth))
  tally['aave-v3'] = await wander(on, user, {
    places: tokens.map(token => on.inAave(token)),
    async views({ asset }) {
      const token = tokens.find(({ address }) => address === asset.info.address)
      if (!token) throw new Error('no token')
      const { aToken, variableDebtToken } = on.tokensOf(token)
      return {
        supplied: await on.balance(aToken, user.address),
        borrowed: await on.balance(variableDebtToken, user.address),
      }
    },
    refill: refill(user),
    runs: 80,
    seed: 9,
  })
})

test('Morpho Blue', { timeout: 120_000 }, async () => {
  const [loan, collateral] = [on.inMorpho('loan', 1), on.inMorpho('collateral', 1)]
  const user = await begin(collateral)
  tally['morpho-blue'] = await wander(on, user, {
    places: [loan, loan, collateral],
    async views(place) {
      const [supplyShares, borrowShares, secured] = await on.position(place, user)
      if (place.asset.side === 'collateral') return { supplied: secured, borrowed: 0n }
      const totals = await on.accrued(place)
      return {
        supplied: MarketUtils.toSupplyAssets(supplyShares, totals),
        borrowed: MarketUtils.toBorrowAssets(borrowShares, totals),
      }
    },
    refill: refill(user),
    runs: 80,
    seed: 9,
  })
  expect(await on.position(loan, user)).toEqual([0n, 0n, 0n])
})
