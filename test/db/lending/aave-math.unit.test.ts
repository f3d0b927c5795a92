import {
  calculateCompoundedInterest,
  calculateLinearInterest,
  rayDiv as theirRayDiv,
  rayMul as theirRayMul,
} from '@aave/math-utils'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  aaveAccount,
  compoundedInterest,
  linearInterest,
  RAY,
  rayDiv,
  rayMul,
} from '../../../db/lending/aave-math.ts'

/** Against @aave/math-utils, which rounds interest at other places; the contract's own rounding is held end to end. */

const amount = fc.bigInt(0n, 2n ** 120n)
const ray = fc.bigInt(RAY, 5n * RAY)
const rate = fc.bigInt(0n, 2n * RAY)
const seconds = fc.integer({ min: 0, max: 3 * 365 * 86_400 })
const START = 1_700_000_000

/** The powers of a rate per second are integers of few digits: one unit of each is multiplied by powers of the time. */
const close = (ours: bigint, theirs: { toFixed(digits: number): string }, elapsed: number) => {
  const difference = ours - BigInt(theirs.toFixed(0))
  const n = BigInt(elapsed)
  expect(difference < 0n ? -difference : difference).toBeLessThanOrEqual(n ** 3n / 3n + n ** 2n + n + 2n)
}

describe('Aave v3 arithmetic', () => {
  it('multiplies and divides in ray as math-utils does', () => {
    fc.assert(
      fc.property(amount, ray, (a, index) => {
        expect(rayMul(a, index)).toBe(BigInt(theirRayMul(a.toString(), index.toString()).toFixed(0)))
        // Their half of an odd index is rounded nowhere: one unit may differ.
        const theirs = BigInt(theirRayDiv(a.toString(), index.toString()).toFixed(0))
        expect([theirs, theirs - 1n, theirs + 1n]).toContain(rayDiv(a, index))
      }),
    )
  })

  it('accrues as math-utils does', () => {
    fc.assert(
      fc.property(rate, seconds, (perYear, elapsed) => {
        const times = {
          rate: perYear.toString(),
          currentTimestamp: START + elapsed,
          lastUpdateTimestamp: START,
        }
        close(linearInterest(perYear, elapsed), calculateLinearInterest(times), elapsed)
        close(compoundedInterest(perYear, elapsed), calculateCompoundedInterest(times), elapsed)
      }),
    )
  })

  it('has no health factor without debt, and ignores what is not collateral', () => {
    const one = { supplied: 10n ** 18n, decimals: 18, ltvBps: 7500n, liquidationThresholdBps: 8000n }
    const debt = { ...one, supplied: 0n, isCollateral: false, borrowed: 10n ** 18n, price: 10n ** 8n }
    const collateral = { ...one, borrowed: 0n, isCollateral: true, price: 2n * 10n ** 8n }
    expect(aaveAccount([collateral]).healthFactorWad).toBeUndefined()
    expect(aaveAccount([collateral, debt]).healthFactorWad).toBe(16n * 10n ** 17n)
    expect(aaveAccount([{ ...collateral, isCollateral: false }, debt]).healthFactorWad).toBe(0n)
    expect(
      aaveAccount([{ ...collateral, eMode: { ltvBps: 9000n, liquidationThresholdBps: 9500n } }, debt])
        .healthFactorWad,
    ).toBe(19n * 10n ** 17n)
  })
})
