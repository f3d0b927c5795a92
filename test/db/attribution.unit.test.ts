import fc from 'fast-check'
import { Attribution } from 'ox/erc8021'
import { concat, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import {
  attributionSuffix,
  codePattern,
  keyCodeOf,
  readAttribution,
  withSuffix,
} from '../../db/attribution.ts'

const marker = '80218021802180218021802180218021'
const call: Hex = '0xa9059cbb000000000000000000000000000000000000000000000000000000000000dead'

test('the layout, written out', () => {
  // "key_a,vaultlog" in ASCII, 14 bytes, schema 0, the marker.
  expect(attributionSuffix('key_a')).toBe(`0x6b65795f612c7661756c746c6f670e00${marker}`)
})

test('what is appended is read back, by us and by the published reader', () => {
  const code = fc.string({ unit: fc.constantFrom(...'abcxyz019_'), minLength: 1, maxLength: 32 })
  const data = fc.uint8Array({ maxLength: 100 })
  fc.assert(
    fc.property(code, data, (key, bytes) => {
      const input = withSuffix(`0x${Buffer.from(bytes).toString('hex')}`, attributionSuffix(key))
      expect(readAttribution(input)).toEqual({ codes: [key, 'vaultlog'] })
      expect(keyCodeOf(input)).toBe(key)
      expect(Attribution.fromData(input)).toMatchObject({ codes: [key, 'vaultlog'], id: 0 })
    }),
  )
})

test('calldata inside the calldata of a smart account or a bundle', () => {
  const abi = parseAbi(['function execute(address to, uint256 value, bytes data)'])
  const inner = concat([call, attributionSuffix('key_a')])
  const outer = encodeFunctionData({
    abi,
    functionName: 'execute',
    args: ['0x000000000000000000000000000000000000dEaD', 0n, inner],
  })
  expect(keyCodeOf(outer)).toBe('key_a')
})

test.each([
  ['nothing', '0x'],
  ['plain calldata', call],
  ['the marker alone', `0x${marker}`],
  ['a length beyond the data', `0x6161ff00${marker}`],
  ['no codes', `0x0000${marker}`],
  ['another schema', `0x6b65795f612c7661756c746c6f670e01${marker}`],
  ['codes of other letters', `0x${Buffer.from('Key A').toString('hex')}0500${marker}`],
])('%s is no attribution', (_, input) => {
  expect(readAttribution(input)).toBeUndefined()
  expect(keyCodeOf(input)).toBeUndefined()
})

test("another's suffix is read, and is nobody's key of ours", () => {
  const input = concat([call, Attribution.toDataSuffix({ codes: ['baseapp', 'morpho'] })])
  expect(readAttribution(input)).toEqual({ codes: ['baseapp', 'morpho'] })
  expect(keyCodeOf(input)).toBeUndefined()
})

test('a code that would not be read back is not written', () => {
  for (const bad of ['', 'A', 'a,b', 'ü', 'a'.repeat(33)]) {
    expect(codePattern.test(bad)).toBe(false)
    expect(() => attributionSuffix(bad)).toThrow('must match')
  }
})

test('any bytes are read without error', () => {
  const bytes = fc.uint8Array({ maxLength: 80 })
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      const input = `0x${Buffer.from(a).toString('hex')}${marker}${Buffer.from(b).toString('hex')}`
      expect(() => readAttribution(input)).not.toThrow()
    }),
  )
})
