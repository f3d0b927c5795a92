import fc from 'fast-check'
import { expect, test } from 'vitest'
import { amountsOf, rootAtTick, worthIn } from '../../abi/ichi/math.ts'
import { rootAt, amountsOf as theirs } from './uniswap.ts'

/** Against Uniswap's own SDK, which shares no code with ours. */

const MOST = 887_272

test('the root of a price at a tick is theirs, over the whole range', () => {
  for (const tick of [0, 1, -1, 60, MOST, -MOST]) expect(rootAtTick(tick)).toBe(rootAt(tick))
  fc.assert(
    fc.property(fc.integer({ min: -MOST, max: MOST }), tick => {
      expect(rootAtTick(tick)).toBe(rootAt(tick))
    }),
    { numRuns: 500 },
  )
})

test('what a position is of at a price is theirs, below, within and above it', () => {
  const tick = fc.integer({ min: -MOST, max: MOST })
  fc.assert(
    fc.property(
      fc.tuple(tick, tick).filter(([a, b]) => a !== b),
      tick.filter(at => at < MOST),
      fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
      ([a, b], at, liquidity) => {
        const range = { liquidity, lower: Math.min(a, b), upper: Math.max(a, b) }
        expect(amountsOf(range, rootAtTick(at))).toEqual(theirs(range, rootAt(at)))
      },
    ),
    { numRuns: 500 },
  )
})

test('nothing is in a position that does not begin before it ends', () => {
  expect(amountsOf({ liquidity: 5n, lower: 60, upper: 60 }, rootAtTick(0))).toEqual([0n, 0n])
  expect(amountsOf({ liquidity: 5n, lower: 120, upper: 60 }, rootAtTick(90))).toEqual([0n, 0n])
})

test('two amounts together are worth as much of either token as the price says', () => {
  // Four of token1 for one of token0.
  const root = 2n * 2n ** 96n
  expect(worthIn(1, [10n, 3n], root)).toBe(43n)
  expect(worthIn(0, [10n, 9n], root)).toBe(12n)
})
