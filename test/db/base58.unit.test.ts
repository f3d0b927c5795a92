import { expect, test } from 'vitest'
import { fromBase58, toBase58 } from '../../db/base58.ts'
import { address } from '../../db/events/shapes.ts'
import { checksum, checksumIn } from '../../read-api/http/amounts.ts'
import { seededRandom } from '../chain/random.ts'

/** Test vectors of draft-msporny-base58-03. */
test.each([
  ['Hello World!', '2NEpo7TZRRrLZSi2U'],
  [
    'The quick brown fox jumps over the lazy dog.',
    'USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z',
  ],
])('%s', (text, encoded) => {
  const bytes = Buffer.from(text)
  expect(toBase58(`0x${bytes.toString('hex')}`)).toBe(encoded)
  expect(fromBase58(encoded, bytes.length)).toBe(`0x${bytes.toString('hex')}`)
})

test('zero bytes at the beginning are kept', () => {
  expect(toBase58('0x0000287fb4cd')).toBe('11233QC4')
  expect(fromBase58('11233QC4', 6)).toBe('0x0000287fb4cd')
})

/** Accounts of Solana by their published names: the system program, the token program (solana-program/token). */
test.each([
  ['11111111111111111111111111111111', '00'.repeat(32)],
  [
    'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    '06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9',
  ],
])('%s is an account, and goes out as it came', (name, hex) => {
  expect(fromBase58(name)).toBe(`0x${hex}`)
  expect(address.parse(fromBase58(name))).toBe(`0x${hex}`)
  expect(checksum(`0x${hex}`)).toBe(name)
  // 32 bytes in a text may be anything, a hash above all.
  expect(checksumIn(`of 0x${hex}`)).toBe(`of 0x${hex}`)
})

test('what is none of 32 bytes is none', () => {
  const name = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
  for (const text of [
    '',
    '1'.repeat(31),
    '1'.repeat(33),
    name.slice(1),
    `${name}1`,
    `1${name}`,
    name.replace('k', 'l'),
    name.replace('T', '0'),
    'z'.repeat(44),
    'z'.repeat(1_000_000),
    `0x${'00'.repeat(32)}`,
  ])
    expect(fromBase58(text)).toBeUndefined()
  // Another account, not the same in another case.
  expect(fromBase58(name.toLowerCase())).not.toBe(fromBase58(name))
})

test('any bytes come back', () => {
  const { next } = seededRandom(58)
  for (let i = 0; i < 500; i++) {
    const length = 1 + Math.floor(next() * 64)
    const zeros = Math.floor(next() * 3)
    const bytes = Array.from({ length }, (_, n) => (n < zeros ? 0 : Math.floor(next() * 256)))
    const hex = `0x${Buffer.from(bytes).toString('hex')}`
    expect(fromBase58(toBase58(hex), length)).toBe(hex)
  }
})

test.each([
  '0x',
  `0x${'ab'.repeat(19)}`,
  `0x${'ab'.repeat(21)}`,
  `0x${'ab'.repeat(31)}`,
  `0x${'AB'.repeat(32)}`,
])('no address: %s', text => expect(address.safeParse(text).success).toBe(false))
