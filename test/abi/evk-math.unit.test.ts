import { expect, test } from 'vitest'
import { accrueEvk, liquidationLtv, owedAssets } from '../../abi/euler/math.ts'

const RAY = 10n ** 27n

test('a year at a rate per second is that rate compounded by the second', () => {
  const interestRate = (5n * RAY) / 100n / 31_536_000n
  const year = accrueEvk(
    {
      accumulator: RAY,
      interestRate,
      owed: 1_000_000_000n << 31n,
      cash: 0n,
      totalShares: 10n ** 9n,
      accumulatedFees: 0n,
      updatedAt: 0,
    },
    1_000n,
    31_536_000,
  )
  const expected = Math.exp(0.05)
  expect(Number(year.accumulator) / 1e27).toBeCloseTo(expected, 9)
  expect(Number(owedAssets(year.owed))).toBeCloseTo(1e9 * expected, -1)
  // A tenth of the interest, as shares of what the vault then has.
  const fee = (1e9 * (expected - 1)) / 10
  expect(Number(year.accumulatedFees)).toBeCloseTo((1e9 * fee) / (1e9 * expected - fee), -1)
})

test('a lowered liquidation LTV goes down evenly, a raised one holds at once', () => {
  const ramp = { liquidationBps: 8_000, initialBps: 9_000, targetAt: 1_000, rampSeconds: 1_000 }
  expect([0, 250, 999, 1_000, 5_000].map(at => liquidationLtv(ramp, at))).toEqual([
    9_000, 8_750, 8_001, 8_000, 8_000,
  ])
  expect(liquidationLtv({ ...ramp, liquidationBps: 9_500 }, 10)).toBe(9_500)
})
