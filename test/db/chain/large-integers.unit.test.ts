import fc from 'fast-check'
import { expect, it } from 'vitest'
import { quoteLargeIntegers } from '../../../db/chain/transport.ts'

it('integers that a number cannot hold come as they were written; nothing else changes', () => {
  const written =
    '{"rentEpoch":18446744073709551615,"a":[-9007199254740993, 1,0.1234567890123456789],"1234567890123456789":"x: 9007199254740993, \\"9007199254740993","e":1.5e3,"f":9007199254740993.5}'
  expect(JSON.parse(quoteLargeIntegers(written))).toEqual({
    rentEpoch: '18446744073709551615',
    a: ['-9007199254740993', 1, Number('0.1234567890123456789')],
    '1234567890123456789': 'x: 9007199254740993, "9007199254740993',
    e: 1500,
    f: Number('9007199254740993.5'),
  })
})

it('leaves whatever JSON there is as it is, while its integers have 15 digits at most', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), value => {
      const text = JSON.stringify(value)
      fc.pre(!/\d{16}/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').replaceAll(/\.\d+/g, '')))
      expect(quoteLargeIntegers(text)).toBe(text)
    }),
    { numRuns: 2_000 },
  )
})
