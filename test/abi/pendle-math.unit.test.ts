import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exp, ONE, ptToAsset, syToAsset, YEAR } from '../../abi/pendle-v2/math.ts'
import { FixedX18, MarketState } from '../pendle/published-math.ts'

const wad = (most: bigint) => fc.bigInt(0n, most)

test('e to the power of anything up to 130 is what the library says, to the unit', () => {
  fc.assert(
    fc.property(fc.oneof(wad(130n * ONE), wad(ONE), wad(1000n)), x => {
      expect(exp(x)).toBe(new FixedX18(x).exp().value)
    }),
    { numRuns: 2000 },
  )
  for (const edge of [0n, 1n, ONE / 4n, ONE, 32n * ONE, 64n * ONE, 128n * ONE, 130n * ONE])
    expect(exp(edge)).toBe(new FixedX18(edge).exp().value)
  expect(exp(130n * ONE + 1n)).toBeUndefined()
  expect(exp(-1n)).toBeUndefined()
})

test('a PT is worth one over the exchange rate of its market before the expiry, and one from then on', () => {
  fc.assert(
    fc.property(wad(3n * ONE), fc.integer({ min: 1, max: 3 * Number(YEAR) }), (lnRate, left) => {
      const rate = MarketState.getExchangeRateFromImpliedRate(new FixedX18(lnRate), BigInt(left))
      const expected = (ONE * ONE) / rate.rawRate
      expect(ptToAsset({ lnRate, expiry: left, exchangeRate: ONE }, 0)).toBe(expected)
    }),
  )
  const over = { lnRate: ONE, expiry: 1_000, exchangeRate: ONE }
  expect(ptToAsset(over, 999)).toBeLessThan(ONE)
  expect(ptToAsset(over, 1_000)).toBe(ONE)
  expect(ptToAsset(over, 1_001)).toBe(ONE)
})

test('where the SY lost value a PT is worth as much less, after the expiry too', () => {
  const lost = { lnRate: 0n, expiry: 1_000, exchangeRate: (9n * ONE) / 10n, pyIndex: ONE }
  expect(ptToAsset(lost, 0)).toBe((9n * ONE) / 10n)
  expect(ptToAsset(lost, 2_000)).toBe((9n * ONE) / 10n)
  expect(ptToAsset({ ...lost, pyIndex: ONE / 2n }, 2_000)).toBe(ONE)
  expect(ptToAsset({ ...lost, pyIndex: undefined }, 2_000)).toBe(ONE)
})

test('a rate beyond what the contracts reckon has no price, and no exception', () => {
  expect(ptToAsset({ lnRate: 131n * ONE, expiry: Number(YEAR), exchangeRate: ONE }, 0)).toBeUndefined()
})

test('SY in the asset is what the index of the library says, rounded down', () => {
  fc.assert(
    fc.property(fc.bigInt(1n, 10n ** 24n), wad(10n ** 30n), (rate, sy) => {
      expect(syToAsset(rate, sy)).toBe(FixedX18.mulDown(sy, new FixedX18(rate)))
    }),
  )
})
