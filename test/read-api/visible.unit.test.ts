import { createClient } from '@clickhouse/client'
import { afterAll, expect, it } from 'vitest'
import {
  noteRetractions,
  VISIBLE,
  VISIBLE_ON_CHAIN,
  withoutRetractions,
} from '../../read-api/moment/visible.ts'

const clickhouse = createClient()
afterAll(() => clickhouse.close())

const looks = (sql: string, parameters: Record<string, unknown>) =>
  withoutRetractions(sql, parameters, clickhouse).includes('retracted')

it('a look at retractions is spared up to where a chain is known to have none, and nowhere else', () => {
  const onChain = (p: number) => looks(VISIBLE_ON_CHAIN, { chain: 1, p })
  expect(onChain(10)).toBe(true)
  noteRetractions(clickhouse, 1, { from: 0, to: 100, found: false })
  noteRetractions(clickhouse, 1, { from: 100, to: 120, found: false })
  // Asked again after it failed.
  noteRetractions(clickhouse, 1, { from: 100, to: 130, found: false })
  expect([onChain(10), onChain(130), onChain(131)]).toEqual([false, false, true])

  noteRetractions(clickhouse, 1, { from: 130, to: 140, found: true })
  noteRetractions(clickhouse, 1, { from: 140, to: 200, found: false })
  expect([onChain(130), onChain(135), onChain(200)]).toEqual([false, true, true])

  const everywhere = (as_of: [number, number][]) => looks(VISIBLE, { as_of: new Map(as_of) })
  expect(everywhere([[1, 130]])).toBe(false)
  expect(everywhere([[1, 131]])).toBe(true)
  expect(
    everywhere([
      [1, 130],
      [10, 5],
    ]),
  ).toBe(true)

  // Built anew, with a retraction at its beginning.
  noteRetractions(clickhouse, 1, { from: 0, to: 50, found: true })
  expect(onChain(10)).toBe(true)
})
