import fc from 'fast-check'
import { expect, test } from 'vitest'
import { presentValue, principalWorth } from '../../abi/compound-v3/math.ts'

test('what a principal is worth leads back to it, whatever the index', () => {
  const index = fc.bigInt({ min: 10n ** 15n, max: 2n ** 64n - 1n })
  const principal = fc.oneof(fc.bigInt({ min: 1n, max: 99n }), fc.bigInt({ min: 1n, max: 2n ** 104n - 1n }))
  fc.assert(
    fc.property(index, principal, (of, p) => {
      expect(principalWorth(of, presentValue(of, p))).toBe(p)
    }),
    { numRuns: 2_000 },
  )
})
