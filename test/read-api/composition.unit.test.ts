import { expect, it } from 'vitest'
import type { Vault } from '../../read-api/catalogue/vault.ts'
import type { Allocation } from '../../read-api/vaults/allocation.ts'
import { utilizationRate } from '../../read-api/vaults/composition.ts'

const vault = (sample: Partial<Vault['state']['sample']> = {}, protocol = 'metamorpho') =>
  ({ state: { sample, protocol } }) as unknown as Vault
const part = (value: bigint, utilization: number | undefined, kind: Allocation['kind'] = 'deployed') => ({
  name: '',
  address: '0x',
  assetSymbol: '',
  value,
  kind,
  utilization,
})
const idle = (value: bigint) => part(value, 0, 'idle')

it.each<[string, Vault, bigint | undefined, Allocation[], number | null]>([
  ['its own borrowers', vault({ borrowedAssets: 30n, totalAssets: 120n }), 120n, [], 0.25],
  ['no borrowers yet', vault({ borrowedAssets: 0n, totalAssets: 120n }), 120n, [], 0],
  ['cash of a pair', vault({}, 'fraxlend'), 100n, [idle(40n)], 0.6],
  ['markets by weight', vault(), 400n, [part(300n, 0.8), part(100n, 0.4)], 0.7],
  ['idle assets are not lent out', vault(), 400n, [part(300n, 0.8), idle(100n)], 0.6],
  ['idle assets alone', vault(), 100n, [idle(100n)], null],
  ['a place that does not say', vault(), 400n, [part(300n, 0.8), part(100n, undefined)], null],
  ['half of it elsewhere', vault(), 400n, [part(200n, 0.8)], null],
  ['nothing known', vault(), undefined, [part(200n, 0.8)], null],
])('utilization: %s', (_, of, total, parts, expected) => {
  const found = utilizationRate(of, { total, parts })
  if (expected === null) expect(found).toBeNull()
  else expect(found).toBeCloseTo(expected, 12)
})
