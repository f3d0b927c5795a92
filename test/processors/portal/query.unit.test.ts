import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Subscription } from '../../../processors/handling/decode.ts'
import { packed, queriesOf, type Selection } from '../../../processors/source/portal-query.ts'
import { address, word } from '../../portal/chain.ts'

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const many = (count: number, first = 0) => Array.from({ length: count }, (_, i) => address(first + i))
const bytes = (query: readonly Selection[]) => JSON.stringify(query).length

describe('queries for a Portal', () => {
  test('hold every address with its topics, once, within what a query may hold, and are as few as that allows', () =>
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat({ max: 9_000 }), fc.integer({ min: 1, max: 30 })), { maxLength: 150 }),
        kinds => {
          const selections = kinds.map(
            ([count, topics], kind): Selection => ({
              ...(count > 0 && { address: many(count, kind * 10_000) }),
              topic0: Array.from({ length: topics }, (_, i) => word(kind * 100 + i)),
            }),
          )
          const queries = packed(selections)
          for (const query of queries) {
            expect(query.length).toBeLessThanOrEqual(100)
            expect(bytes(query)).toBeLessThan(256 * 1024 - 1024)
          }
          const pairs = (all: readonly Selection[]) =>
            all
              .flatMap(({ address: list = [''], topic0 = [] }) => list.map(one => `${one} ${topic0[0]}`))
              .sort()
          expect(pairs(queries.flat())).toEqual(pairs(selections))
          const least = Math.max(
            Math.ceil(bytes(selections) / (254 * 1024)),
            Math.ceil(selections.length / 100),
          )
          expect(queries.length).toBeLessThanOrEqual(1.2 * least + 1)
        },
      ),
      { numRuns: 30 },
    ))

  const subscriptions = (count: number): Partial<Subscription>[] => [
    { topic0: [word(1)], transaction: true },
    { topic0: [word(1), word(2)], address: many(count) },
    { topic0: [TRANSFER], address: many(100) },
  ]

  test('ask by addresses where all of them fit into one, and by topics where these weigh less than more queries', async () => {
    const asked: string[] = []
    const choose = (count: number, logsInABlock: number, blocks = 10_000) =>
      queriesOf(subscriptions(count), blocks, async topics => {
        asked.push(topics.join())
        return logsInABlock
      })
    const [few = [], ...none] = await choose(5_000, 0)
    expect([none, asked]).toEqual([[], []])
    // What is asked of everybody is not asked of anybody again.
    expect(few[1]).toEqual({ address: many(5_000), topic0: [word(2)] })
    const [rare = [], ...noneMore] = await choose(20_000, 0.01)
    expect(noneMore).toEqual([])
    expect(rare[1]).toEqual({ topic0: [word(2)] })
    expect(rare[2]).toEqual({ topic0: [TRANSFER], address: many(100) })
    // Three queries more are 1.5 MB of time; 10,000 blocks with one log each are 7 MB.
    expect(await choose(20_000, 1)).toHaveLength(4)
    expect(await choose(20_000, 1, 1_000)).toHaveLength(1)
  })

  test('never ask for everybody’s transfers', async () => {
    const all = [{ topic0: [TRANSFER, word(3)], address: many(20_000) }]
    const queries = await queriesOf(all, 1, async () => 0)
    expect(queries.flat().flatMap(({ address: list = [] }) => list)).toEqual(many(20_000))
  })
})
