import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { returnsOf } from '../../read-api/portfolio/returns.ts'
import { assetsOf } from '../../read-api/vaults/share-value.ts'

describe('the arithmetic', () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 30n })

  it('makes nothing and loses nothing: windows add up, and a transfer is one wallet’s gain and another’s loss', () => {
    const flows = fc.record({
      deposited: amount,
      withdrawn: amount,
      received: fc.bigInt(-(10n ** 30n), 10n ** 30n),
    })
    fc.assert(
      fc.property(fc.array(fc.tuple(amount, flows), { minLength: 1 }), amount, (parts, start) => {
        let opening = start
        let sum = 0n
        const whole = { deposited: 0n, withdrawn: 0n, received: 0n }
        for (const [closing, part] of parts) {
          sum += returnsOf({ opening, closing, ...part })
          opening = closing
          whole.deposited += part.deposited
          whole.withdrawn += part.withdrawn
          whole.received += part.received
        }
        expect(returnsOf({ opening: start, closing: opening, ...whole })).toBe(sum)
      }),
    )
  })

  it('values shares as the contract does, with more digits than the share price has', () => {
    fc.assert(
      fc.property(
        fc.bigInt(1n, 10n ** 32n),
        fc.bigInt(1n, 10n ** 30n),
        fc.bigInt(1n, 10n ** 30n),
        fc.constantFrom([18, 6] as const, [18, 18] as const, [6, 6] as const, [8, 18] as const),
        (shares, totalAssets, totalSupply, [decimals, assetDecimals]) => {
          const virtual = decimals >= assetDecimals ? 10n ** BigInt(decimals - assetDecimals) : 0n
          const one = decimals >= assetDecimals ? 1n : 0n
          const convert = (of: bigint) => (of * (totalAssets + one)) / (totalSupply + virtual)
          const price = convert(10n ** BigInt(decimals))
          expect(
            assetsOf(shares, { totalAssets, totalSupply, sharePriceRaw: price }, { decimals, assetDecimals }),
          ).toBe(convert(shares))
          // The other way round, a transfer is as much to one as to the other.
          expect(
            assetsOf(
              -shares,
              { totalAssets, totalSupply, sharePriceRaw: price },
              { decimals, assetDecimals },
            ),
          ).toBe(-convert(shares))
        },
      ),
    )
  })

  it('takes a price that the totals do not explain as it is', () => {
    const decimals = { decimals: 18, assetDecimals: 6 }
    const state = { totalAssets: 5_000_000n, totalSupply: 10n ** 18n, sharePriceRaw: 1_234_567n }
    expect(assetsOf(2n * 10n ** 18n, state, decimals)).toBe(2_469_134n)
    expect(assetsOf(1n, { ...state, sharePriceRaw: undefined }, decimals)).toBeUndefined()
    expect(assetsOf(0n, { ...state, sharePriceRaw: undefined }, decimals)).toBe(0n)
  })
})
