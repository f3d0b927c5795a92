import { expect, it } from 'vitest'
import { networkIds } from '../../db/networks.ts'
import { untilFirstRecheck } from '../../processors/checking/recheck.ts'

it('compares no two networks in the same moment, and each within the time between two comparisons', () => {
  const MINUTES = 10
  const times = networkIds.map(network => untilFirstRecheck(MINUTES, network)).sort((a, b) => a - b)
  const again = [...times, ...times.map(time => time + MINUTES * 60_000)]
  const gaps = again.slice(1).map((time, i) => time - (again[i] ?? 0))
  expect(times[0]).toBeGreaterThan(0)
  expect(times.at(-1)).toBeLessThanOrEqual(MINUTES * 60_000)
  expect(Math.min(...gaps)).toBeGreaterThan(27_000)
})
