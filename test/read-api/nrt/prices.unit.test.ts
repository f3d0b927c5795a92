import { expect, it } from 'vitest'
import { type PriceSource, priceOf } from '../../../read-api/nrt/nrt.ts'

const source: PriceSource = {
  constant: 1,
  feed: '0x0000000000000000000000000000000000000001',
  greatestAge: 3_600,
  vaults: [],
}
const answers = (updatedAt: bigint) => ({
  'feed decimals': 8,
  'feed round': [1n, 250_000_000n, 0n, updatedAt, 1n],
})

it('a feed that has not reported for too long says no price', () => {
  expect(priceOf(source, answers(1_000n), 4_600)).toBe(2.5)
  expect(priceOf(source, answers(1_000n), 4_601)).toBeUndefined()
  expect(priceOf(source, answers(0n), 4_601)).toBeUndefined()
})
