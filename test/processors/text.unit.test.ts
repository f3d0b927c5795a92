import { expect, it } from 'vitest'
import { cleanText } from '../../processors/handling/decoder.ts'
import { asSymbol, asText } from '../../processors/samples/answers.ts'

/** What `symbol()` answers: offset, length, bytes. */
function answer(text: string): string {
  const bytes = Buffer.from(text)
  const word = (n: number) => n.toString(16).padStart(64, '0')
  return `0x${word(32)}${word(bytes.length)}${bytes.toString('hex').padEnd(Math.ceil(bytes.length / 32) * 64, '0')}`
}

it('keeps nothing that nobody sees', () => {
  expect(cleanText('US\u200bDC\u202e\u0000\u2066 \ufeffcoin\u00ad')).toBe('USDC coin')
  expect(asText(answer('U\u200dSDC'))).toBe('USDC')
  expect(cleanText('Ödd 奇 ✓')).toBe('Ödd 奇 ✓')
})

it('keeps no more of a name or a symbol than there is room for, and no half of a character', () => {
  expect(asSymbol(answer('🦄'.repeat(70)))).toBe('🦄'.repeat(64))
  expect([...asText(answer('n'.repeat(5_000)))]).toHaveLength(256)
})
