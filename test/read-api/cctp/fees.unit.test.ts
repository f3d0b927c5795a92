import fc from 'fast-check'
import { expect, test } from 'vitest'
import { feesAnswer, maxFeeOf } from '../../../read-api/protocols/cctp-v2/fees.ts'

const read = (minimumFee: unknown, forward?: unknown) =>
  feesAnswer.parse([
    {
      finalityThreshold: 1000,
      minimumFee,
      ...(forward === undefined ? {} : { forwardFee: { low: 1, med: 2, high: forward } }),
    },
    { finalityThreshold: 2000, minimumFee: 0 },
  ])

test.each([
  // 1.3 bps of 1,000,000,000 are 130,000, and a tenth of it.
  [1.3, 1_000_000_000n, 143_000n],
  ['1.3', 1_000_000_000n, 143_000n],
  // Rounded up twice: 0.00013 of 1 is 1, and a tenth of 1 is 1.
  [1.3, 1n, 2n],
  [0, 10n ** 12n, 0n],
  ['14', 10_000n, 16n],
  // Beyond what a float could hold: 2^53 + 1 at 1 bps is 900719925474.0993, up, and a tenth of it up.
  [1, 9_007_199_254_740_993n, 900_719_925_475n + 90_071_992_548n],
  ['0.000000000001', 10n ** 15n, 2n],
])('%s bps of %s keep %s at most', (bps, amount, expected) => {
  expect(maxFeeOf(amount, { fast: read(bps).fast?.bps, least: 0n })).toBe(expected)
})

test('a standard transfer keeps nothing, forwarding its fee, and never less than the contract demands', () => {
  const { standard, fast } = read('1.3', '200000')
  expect(maxFeeOf(10n ** 9n, { least: 0n })).toBe(0n)
  expect(maxFeeOf(10n ** 9n, { least: 7n })).toBe(7n)
  expect(fast?.forwarding).toBe(200_000n)
  expect(standard?.forwarding).toBeUndefined()
  expect(maxFeeOf(10n ** 9n, { fast: fast?.bps, forwarding: fast?.forwarding, least: 7n })).toBe(343_000n)
})

test('the fee covers what is taken at that rate, whatever the amount', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 2n ** 80n }),
      fc.integer({ min: 0, max: 9_999 }),
      fc.integer({ min: 0, max: 999 }),
      (amount, whole, thousandths) => {
        const text = `${whole}.${String(thousandths).padStart(3, '0')}`
        const taken = amount * (BigInt(whole) * 1_000n + BigInt(thousandths))
        const fee = maxFeeOf(amount, { fast: read(text).fast?.bps, least: 0n })
        expect(fee * 10_000_000n >= taken).toBe(true)
        // And no more than a tenth above it, and two units of rounding.
        expect((fee - 2n) * 10_000_000n * 10n <= taken * 11n + 11n * 10_000_000n).toBe(true)
      },
    ),
  )
})

test.each([
  [{}],
  [[{ finalityThreshold: 1000, minimumFee: -1 }]],
  [[{ finalityThreshold: 1000, minimumFee: '1e3' }]],
  [[{ finalityThreshold: 1000, minimumFee: 1e-9 }]],
  [[{ finalityThreshold: 1000, minimumFee: '1', forwardFee: { high: '1.5' } }]],
])('is no answer of fees: %j', answer => {
  expect(feesAnswer.safeParse(answer).success).toBe(false)
})
