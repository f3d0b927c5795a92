import { AdaptiveCurveIrmLib } from '@morpho-org/blue-sdk'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { adaptiveRate } from '../../abi/morpho-blue/adaptive-curve-math.ts'

const WAD = 10n ** 18n
const amount = fc.bigInt({ min: 0n, max: 10n ** 30n })

/**
 * blue-sdk rounds negative quotients down where the contract rounds towards zero: at or above the target utilization
 * both do the same, below they differ by what one unit of the error's 1e18 makes of a rate.
 */
test('the rate of a period is what blue-sdk gives', () => {
  fc.assert(
    fc.property(
      amount,
      fc.bigInt({ min: 0n, max: WAD }),
      fc.oneof(fc.constant(0n), fc.bigInt({ min: 31_709_791n, max: 63_419_583_967n })),
      fc.bigInt({ min: 0n, max: 100n * 86_400n }),
      (supplyAssets, share, rateAtTarget, elapsed) => {
        const borrowAssets = (supplyAssets * share) / WAD
        const utilization = supplyAssets === 0n ? 0n : (borrowAssets * WAD) / supplyAssets
        const sdk = AdaptiveCurveIrmLib.getBorrowRate(utilization, rateAtTarget, elapsed)
        const { average, end } = adaptiveRate({ supplyAssets, borrowAssets }, rateAtTarget, elapsed)
        const tolerance = utilization >= AdaptiveCurveIrmLib.TARGET_UTILIZATION ? 0n : 2n
        for (const [found, expected] of [
          [average, sdk.avgBorrowRate],
          [end, sdk.endBorrowRate],
        ] as const) {
          const difference = found > expected ? found - expected : expected - found
          expect(difference <= tolerance, `${found} for ${expected} at ${utilization}`).toBe(true)
        }
      },
    ),
    { numRuns: 2_000 },
  )
})
