import { afterEach, describe, expect, it } from 'vitest'
import { loadEndpoints } from '../../read-api/http/load-endpoints.ts'
import { LONGEST_TEXT } from '../../read-api/http/parameters.ts'
import { parseStrictly } from '../../read-api/http/validation.ts'

/**
 * Work that grows with the square of a text is harmless where the text is short. So no clock is asked: what is watched
 * is how long a text any pattern is ever let look at, whatever came in.
 */
const { exec } = RegExp.prototype
let seen: { pattern: string; length: number }[] = []
function watch() {
  seen = []
  RegExp.prototype.exec = function (this: RegExp, text: string) {
    seen.push({ pattern: this.source, length: String(text).length })
    return exec.call(this, text)
  }
}
afterEach(() => {
  RegExp.prototype.exec = exec
})

/** Looks at each character once: a single class, which nothing repeats. zod counts characters so. */
const isOnce = (pattern: string) => /^\[[^\]]*\]$/.test(pattern)
const tooLong = () =>
  seen.filter(
    ({ pattern, length }) => length > LONGEST_TEXT && !isOnce(pattern) && !pattern.startsWith('^Unknown'),
  )

const LENGTH = 16_000
const of = (piece: string) => piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH)
const HOSTILE: Record<string, string> = Object.fromEntries(
  [
    '1',
    '0',
    'a',
    'A',
    'e',
    '.',
    '-',
    '+',
    ' ',
    '\t',
    '\n',
    '_',
    '/',
    ':',
    '%',
    '"',
    '\\',
    '\0',
    'é',
    '漢',
    '🦄',
    '\u202e',
    '\u200b',
  ]
    .concat(['1.', '1e', '0x', 'aA', '1 ', ' a', 'a-', 'eip155:', '2025-', 'a,', ',', '1,2'])
    .flatMap(piece => [
      [JSON.stringify(piece), of(piece)],
      [`${JSON.stringify(piece)} and a bad tail`, `${of(piece)}x!`],
      [`a good head and ${JSON.stringify(piece)}`, `0x1${of(piece)}`],
    ]),
)

const endpoints = (await loadEndpoints()).map(({ endpoint }) => endpoint)
const parts = endpoints.flatMap(({ path, method, params, query, body }) => [
  ...Object.entries(params?.shape ?? {}).map(([name, schema]) => ({ path, method, name, schema })),
  ...Object.entries(query?.shape ?? {}).map(([name, schema]) => ({ path, method, name, schema })),
  ...(body ? [{ path, method, name: 'the body', schema: body }] : []),
])

/** Each schema once: many endpoints share those of their paths. */
const distinct = [...new Map(parts.map(part => [part.schema, part])).values()]

describe('texts of 16 kB of every kind of character', () => {
  it('are never looked at by a pattern that is not watched', () => {
    watch()
    expect(/^a+$/.test('aaaa')).toBe(true)
    expect('a b'.replace(/ /g, '')).toBe('ab')
    expect(
      seen.map(({ length }) => length).filter(length => length === 3 || length === 4).length,
    ).toBeGreaterThan(1)
  })

  it.each(distinct)(
    '$method $path: $name is refused, or taken, without a pattern that reads it all',
    ({ name, schema }) => {
      watch()
      for (const [kind, text] of Object.entries(HOSTILE)) {
        const values = [
          text,
          [text, text],
          ...(name === 'the body' ? [{ [text]: true }, { select: { [text]: true } }, { select: text }] : []),
        ]
        for (const value of values) {
          try {
            parseStrictly(name === 'the body' ? 'body' : 'path', schema as never, value)
          } catch (error) {
            expect((error as Error).message.length, kind).toBeLessThan(1_500)
          }
        }
      }
      expect(tooLong()).toEqual([])
    },
  )

  it('are refused as names of parameters, without an answer as long', () => {
    watch()
    for (const { query } of endpoints) {
      for (const text of Object.values(HOSTILE)) {
        expect(() => parseStrictly('query', query, { [text]: '1' })).toThrow(
          /^Unknown query parameter ".{0,82}…"/s,
        )
      }
    }
    expect(tooLong()).toEqual([])
  })
})
