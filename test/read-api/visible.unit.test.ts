import { createClient } from '@clickhouse/client'
import { afterAll, expect, it } from 'vitest'
import {
  noteCompacted,
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
  noteRetractions(clickhouse, 1, { from: 0, to: 100 })
  noteRetractions(clickhouse, 1, { from: 100, to: 120 })
  // Asked again after it failed.
  noteRetractions(clickhouse, 1, { from: 100, to: 130 })
  expect([onChain(10), onChain(130), onChain(131)]).toEqual([false, false, true])

  noteRetractions(clickhouse, 1, { from: 130, to: 140, last: 138 })
  noteRetractions(clickhouse, 1, { from: 140, to: 200 })
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
  noteRetractions(clickhouse, 1, { from: 0, to: 50, last: 7 })
  expect(onChain(10)).toBe(true)
})

it('where all retractions are compacted none is looked at, and where some are those alone that are not', () => {
  const other = createClient()
  const asked = (p: number) => withoutRetractions(VISIBLE_ON_CHAIN, { chain: 1, p }, other)
  const everywhere = (as_of: [number, number][]) =>
    withoutRetractions(VISIBLE, { as_of: new Map(as_of) }, other)
  noteRetractions(other, 1, { from: 0, to: 100, last: 40 })
  noteRetractions(other, 1, { from: 100, to: 200, last: 150 })
  noteRetractions(other, 10, { from: 0, to: 5 })
  noteCompacted(other, new Map([[1, 149]]))
  expect(asked(200)).toContain('retracted_by > 149 AND retracted_by <= {p:UInt64}')
  // As of a moment when the rows that are gone were still there to be told from.
  expect(asked(140)).not.toContain('149')
  expect(
    everywhere([
      [1, 200],
      [10, 5],
    ]),
  ).toContain('retracted_by > map(1, 149, 10, 0)[toUInt32(stream)] AND retracted_by <= {as_of')

  noteCompacted(other, new Map([[1, 150]]))
  expect(asked(200)).not.toContain('retracted')
  expect(
    everywhere([
      [1, 200],
      [10, 5],
    ]),
  ).not.toContain('retracted')
  expect(asked(149)).toContain('retracted')
  // Not looked through yet.
  expect(asked(201)).toContain('retracted')

  noteRetractions(other, 1, { from: 200, to: 300, last: 260 })
  expect(asked(300)).toContain('retracted_by > 150 AND')
  // A projection has joined whose rows are all there.
  noteCompacted(other, new Map([[1, 0]]))
  expect(asked(300)).toBe(VISIBLE_ON_CHAIN)
  return other.close()
})
