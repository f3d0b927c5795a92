import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { parseAnswer } from '../../../db/chain/json-pieces.ts'

/** Texts in which a guess where a list begins, goes on or ends is wrong. */
const misleading = fc
  .array(fc.constantFrom('"result":[{', '},{', '}]', '{"', '"}', '[', ']', '\\', '"', 'ö', '🜚', 'ab'))
  .map(parts => parts.join(''))
const value = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    misleading,
    fc.integer(),
    fc.constant(null),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(fc.constantFrom('a', 'result', 'id', '},{'), tie('value'), { maxKeys: 4 }),
}))
const objects = fc.array(value.object, { maxLength: 12 })
const answer = fc.oneof(
  fc.record({ jsonrpc: fc.constant('2.0'), id: fc.integer(), result: fc.oneof(objects, value.value) }),
  // Some say what it is an answer to after the answer.
  fc.record({ result: objects, note: misleading, id: fc.integer() }),
  fc.record({ id: fc.integer(), error: value.object }),
)

describe('an answer that is read in pieces', () => {
  test('is what JSON.parse gives of it', () => {
    fc.assert(
      fc.property(
        fc.oneof(answer, fc.array(answer, { maxLength: 4 }), value.value),
        fc.integer({ min: 1, max: 60 }),
        (given, piece) => {
          const text = JSON.stringify(given)
          expect(parseAnswer(Buffer.from(text), piece)).toEqual(JSON.parse(text))
        },
      ),
      { numRuns: 3_000 },
    )
  })

  test('is refused where JSON.parse refuses it', () => {
    fc.assert(
      fc.property(
        fc.array(answer, { minLength: 1, maxLength: 3 }),
        fc.nat(),
        fc.nat(),
        (given, from, count) => {
          const whole = JSON.stringify(given)
          const start = from % whole.length
          const bytes = Buffer.from(whole.slice(0, start) + whole.slice(start + 1 + (count % 5)))
          let expected: unknown
          try {
            expected = JSON.parse(bytes.toString())
          } catch {
            expect(() => parseAnswer(bytes, 8)).toThrow(SyntaxError)
            return
          }
          expect(parseAnswer(bytes, 8)).toEqual(expected)
        },
      ),
      { numRuns: 3_000 },
    )
  })

  test('twice named, counts where it is named last', () => {
    const text = '{"id":1,"result":[{"a":1},{"a":2}],"result":[{"a":3},{"a":4}]}'
    expect(parseAnswer(Buffer.from(text), 4)).toEqual(JSON.parse(text))
  })

  test('makes no text of the whole of megabytes of logs, and beside them reads what came with them', () => {
    const logs = Array.from({ length: 5_000 }, (_, i) => ({
      address: `0x${'ab'.repeat(20)}`,
      topics: [`0x${'cd'.repeat(32)}`, `0x${'0e'.repeat(32)}`],
      data: `0x${i.toString(16).padStart(128, '0')}`,
    }))
    const given = [
      { jsonrpc: '2.0', id: 1, result: logs },
      { jsonrpc: '2.0', id: 2, result: { number: '0x1', transactions: [{ hash: '0x2' }] } },
      { jsonrpc: '2.0', id: 3, result: logs.slice(0, 3) },
    ]
    const parse = vi.spyOn(JSON, 'parse')
    const read = parseAnswer(Buffer.from(JSON.stringify(given)))
    const longest = Math.max(...parse.mock.calls.map(([text]) => text.length))
    parse.mockRestore()
    expect(read).toEqual(given)
    expect(longest).toBeLessThan(128 * 1024)
  })
})
