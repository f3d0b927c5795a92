import { MarketUtils, MathLib, SharesMath } from '@morpho-org/blue-sdk'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  accrueMorpho,
  liquidationIncentiveFactor,
  type MorphoMarket,
  morphoBalances,
  morphoMaxBorrow,
  toSharesDown,
  toSharesUp,
  wTaylorCompounded,
} from '../../abi/morpho-blue/math.ts'
import { WAD } from '../../db/units.ts'

/** Against blue-sdk, Morpho's own arithmetic in TypeScript, which shares no code with ours. */

const amount = fc.bigInt(0n, 2n ** 110n)
const shares = fc.bigInt(0n, 2n ** 120n)
const market: fc.Arbitrary<MorphoMarket> = fc.record({
  supplyAssets: amount,
  supplyShares: shares,
  borrowAssets: amount,
  borrowShares: shares,
  lastUpdate: fc.constant(1_700_000_000),
  feeWad: fc.bigInt(0n, WAD / 4n),
})

describe('Morpho Blue arithmetic', () => {
  it('rounds positions as blue-sdk does', () => {
    fc.assert(
      fc.property(market, shares, shares, (m, supplyShares, borrowShares) => {
        const { supplied, borrowed } = morphoBalances({ supplyShares, borrowShares, collateral: 0n }, m)
        expect(supplied).toBe(SharesMath.toAssets(supplyShares, m.supplyAssets, m.supplyShares, 'Down'))
        expect(borrowed).toBe(SharesMath.toAssets(borrowShares, m.borrowAssets, m.borrowShares, 'Up'))
        expect(toSharesDown(supplyShares, m.supplyAssets, m.supplyShares)).toBe(
          SharesMath.toShares(supplyShares, m.supplyAssets, m.supplyShares, 'Down'),
        )
        expect(toSharesUp(supplyShares, m.supplyAssets, m.supplyShares)).toBe(
          SharesMath.toShares(supplyShares, m.supplyAssets, m.supplyShares, 'Up'),
        )
      }),
    )
  })

  it('compounds and accrues as blue-sdk does', () => {
    fc.assert(
      fc.property(
        market,
        fc.bigInt(0n, 10n ** 12n),
        fc.integer({ min: 0, max: 10 ** 8 }),
        (m, rate, elapsed) => {
          expect(wTaylorCompounded(rate, BigInt(elapsed))).toBe(
            MathLib.wTaylorCompounded(rate, BigInt(elapsed)),
          )
          const theirs = MarketUtils.getAccruedInterest(
            rate,
            {
              totalSupplyAssets: m.supplyAssets,
              totalBorrowAssets: m.borrowAssets,
              totalSupplyShares: m.supplyShares,
              fee: m.feeWad,
            },
            BigInt(elapsed),
          )
          const ours = accrueMorpho(m, rate, m.lastUpdate + elapsed)
          expect([ours.interest, ours.feeShares]).toEqual([theirs.interest, theirs.feeShares])
        },
      ),
    )
  })

  it('limits borrowing and rewards liquidators as blue-sdk does', () => {
    fc.assert(
      fc.property(amount, fc.bigInt(0n, 2n ** 140n), fc.bigInt(0n, WAD), (collateral, price, lltv) => {
        expect(liquidationIncentiveFactor(lltv)).toBe(MarketUtils.getLiquidationIncentiveFactor({ lltv }))
        expect(morphoMaxBorrow(collateral, price, lltv)).toBe(
          MarketUtils.getMaxBorrowAssets(collateral, { price }, { lltv }),
        )
      }),
    )
  })
})
