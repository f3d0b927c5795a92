import { Market } from '@morpho-org/blue-sdk'
import fc from 'fast-check'
import { zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import { morphoStateAt } from '../../../read-api/protocols/morpho-blue/lending.ts'

const WAD = 10n ** 18n
const irm = `0x${'11'.repeat(20)}` as const

/** Above its target utilization blue-sdk rounds as the contract does; see adaptive-curve-math.unit.test.ts. */
test('a market with the adaptive model is, seconds later, what blue-sdk accrues it to', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 10n ** 6n, max: 10n ** 27n }),
      fc.bigInt({ min: (9n * WAD) / 10n, max: WAD }),
      fc.bigInt({ min: 0n, max: WAD / 4n }),
      fc.bigInt({ min: 31_709_791n, max: 63_419_583_967n }),
      fc.integer({ min: 0, max: 40 * 86_400 }),
      (supplyAssets, share, fee, rateAtTarget, elapsed) => {
        const borrowAssets = (supplyAssets * share + WAD - 1n) / WAD
        const lastUpdate = 1_700_000_000
        const totals = {
          totalSupplyAssets: supplyAssets,
          totalBorrowAssets: borrowAssets,
          totalSupplyShares: supplyAssets * 990_000n,
          totalBorrowShares: borrowAssets * 980_000n,
        }
        const params = { loanToken: irm, collateralToken: irm, oracle: zeroAddress, irm, lltv: 0n }
        const sdk = new Market({ ...totals, params, lastUpdate: BigInt(lastUpdate), fee, rateAtTarget })
        const { state } = morphoStateAt(
          {
            irm,
            supply_assets: `${totals.totalSupplyAssets}`,
            supply_shares: `${totals.totalSupplyShares}`,
            borrow_assets: `${totals.totalBorrowAssets}`,
            borrow_shares: `${totals.totalBorrowShares}`,
            last_update: lastUpdate,
            fee: `${fee}`,
            borrow_rate: '1',
            rate_at_target: `${rateAtTarget}`,
          },
          lastUpdate + elapsed,
        )
        const later = sdk.accrueInterest(lastUpdate + elapsed)
        expect([state.supplyAssets, state.supplyShares, state.borrowAssets, state.borrowShares]).toEqual([
          later.totalSupplyAssets,
          later.totalSupplyShares,
          later.totalBorrowAssets,
          later.totalBorrowShares,
        ])
      },
    ),
    { numRuns: 1_000 },
  )
})
