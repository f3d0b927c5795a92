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
  owedAt,
  rayDiv,
  rayMul,
  suppliedAt,
} from '../../abi/aave-v3/math.ts'
import { RAY } from '../../db/units.ts'

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
  it('rounds in favour of the pool since v3.5', () => {
    fc.assert(
      fc.property(amount, ray, (scaled, index) => {
        const rest = scaled * index - suppliedAt(scaled, index, true) * RAY
        expect(rest >= 0n && rest < RAY).toBe(true)
        expect(owedAt(scaled, index, true) - suppliedAt(scaled, index, true)).toBe(rest === 0n ? 0n : 1n)
        for (const side of [suppliedAt, owedAt])
          expect(side(scaled, index, false)).toBe(rayMul(scaled, index))
      }),
    )
    // A debt of 0.137231 USDC at 0.99981 USD, whose worth a pool of v3.5 on mainnet says so: 13720492.611 rounded up.
    const debt = { supplied: 0n, borrowed: 137_231n, isCollateral: false, price: 99_981_000n, decimals: 6 }
    const bps = { ltvBps: 0n, liquidationThresholdBps: 0n }
    expect(aaveAccount([{ ...debt, ...bps, isDirected: true }]).totalDebtBase).toBe(13_720_493n)
    expect(aaveAccount([{ ...debt, ...bps }]).totalDebtBase).toBe(13_720_492n)
  })

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

  it('has the health factor of v3.5 on of the thresholds undivided', () => {
    const held = { isCollateral: true, borrowed: 0n, decimals: 0, price: 1n, ltvBps: 0n }
    const holdings = [
      { ...held, supplied: 1n, liquidationThresholdBps: 8_000n },
      { ...held, supplied: 2n, liquidationThresholdBps: 8_250n },
      { ...held, supplied: 0n, liquidationThresholdBps: 0n, isCollateral: false, borrowed: 1n },
    ]
    // 8,000 + 2 × 8,250 over 10,000; of the average in whole basis points, 8,166, it is 2.4498, which is 2.
    const factor = (isDirected: boolean) =>
      aaveAccount(holdings.map(of => ({ ...of, isDirected }))).healthFactorWad
    expect(factor(true)).toBe(2_450_000_000_000_000_000n)
    expect(factor(false)).toBe(2_000_000_000_000_000_000n)
  })

  it('goes by an eMode before the reserve since v3.6, and by a zero of the reserve first before', () => {
    // Collateral in the eMode alone, as docs/3.6 of aave-dao/aave-v3-origin have it.
    const held = {
      supplied: 100n,
      borrowed: 50n,
      isCollateral: true,
      decimals: 0,
      price: 1n,
      ltvBps: 0n,
      liquidationThresholdBps: 0n,
      eMode: { ltvBps: 9_000n, liquidationThresholdBps: 9_300n },
    }
    expect(aaveAccount([{ ...held, isDirected: true, isDecoupled: true }])).toEqual({
      totalCollateralBase: 100n,
      totalDebtBase: 50n,
      ltvBps: 9_000n,
      liquidationThresholdBps: 9_300n,
      healthFactorWad: 1_860_000_000_000_000_000n,
    })
    expect(aaveAccount([held])).toMatchObject({ totalCollateralBase: 0n, ltvBps: 0n, healthFactorWad: 0n })
    // Up to v3.5 an LTV of zero stays zero in the eMode, while the eMode's threshold counts.
    const halfway = { ...held, liquidationThresholdBps: 500n }
    expect(aaveAccount([halfway])).toMatchObject({ ltvBps: 0n, liquidationThresholdBps: 9_300n })
  })
})
