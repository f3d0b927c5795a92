import { expect, test } from 'vitest'
import type { LendingPosition } from '../../../read-api/lending/family.ts'
import { securedPairs } from '../../../read-api/protocols/euler-v2/positions.ts'

/** A position in the pair of a lender and a collateral; only what decides is filled in. */
function pair(root: string, collateral: { enabled: boolean; supplied: bigint }, protocol = 'euler-v2') {
  const loan = { asset: { side: 'loan' }, collateralEnabled: false, supplied: 0n, borrowed: 7n }
  const secures = {
    asset: { side: 'collateral' },
    collateralEnabled: collateral.enabled,
    supplied: collateral.supplied,
    borrowed: 0n,
  }
  return { market: { root, protocol }, assets: [loan, secures] } as unknown as LendingPosition
}
const held = { enabled: true, supplied: 5n }
const notEnabled = { enabled: false, supplied: 5n }
const empty = { enabled: true, supplied: 0n }

test('of the pairs of a lender those count whose collateral is enabled and there', () => {
  const [first, second] = [pair('a', held), pair('a', held)]
  expect(securedPairs([first, pair('a', notEnabled), second, pair('a', empty)])).toEqual([first, second])
})

test('a debt that nothing secures any more is still shown, and so are other protocols', () => {
  const all = [pair('a', empty), pair('a', notEnabled), pair('b', held), pair('a', notEnabled, 'morpho-blue')]
  expect(securedPairs(all)).toEqual(all)
})
