const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/**
 * Bytes as base58 has them, from lower-case hex. Zero bytes at the beginning are a `1` each.
 * @see https://datatracker.ietf.org/doc/html/draft-msporny-base58-03
 * @example toBase58(`0x${'00'.repeat(32)}`) === '1'.repeat(32)
 */
export function toBase58(hex: string): string {
  let text = ''
  for (let value = BigInt(hex); value > 0n; value /= 58n) text = DIGITS[Number(value % 58n)] + text
  const zeros = (/^0x((?:00)*)/.exec(hex)?.[1]?.length ?? 0) / 2
  return '1'.repeat(zeros) + text
}

/** Lower-case hex of what `text` says; undefined where it is no base58 of `bytes` bytes. Case matters. */
export function fromBase58(text: string, bytes = 32): string | undefined {
  const hex = text === '' ? undefined : hexOfBase58(text, bytes)
  return hex?.length === 2 * bytes + 2 ? hex : undefined
}

/** Lower-case hex of what `text` says; undefined where it is no base58, or of more than `most` bytes. */
export function hexOfBase58(text: string, most: number): string | undefined {
  // A byte is 1.37 digits: what is longer is refused before it is reckoned with.
  if (text.length > Math.ceil(most * 1.37)) return undefined
  let value = 0n
  for (const digit of text) {
    const place = DIGITS.indexOf(digit)
    if (place < 0) return undefined
    value = value * 58n + BigInt(place)
  }
  const zeros = /^1*/.exec(text)?.[0].length ?? 0
  const digits = value === 0n ? '' : value.toString(16)
  const hex = '00'.repeat(zeros) + (digits.length % 2 ? `0${digits}` : digits)
  return hex.length <= 2 * most ? `0x${hex}` : undefined
}
