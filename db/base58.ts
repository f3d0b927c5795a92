const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** By the code of a character: which digit it is, or -1. */
const PLACES = Int8Array.from({ length: 128 }, (_, code) => DIGITS.indexOf(String.fromCharCode(code)))
/** Base58 digits that fit into a number exactly: so many are converted at a time. */
const TOGETHER = 9
const POWERS = Array.from({ length: TOGETHER + 1 }, (_, digits) => 58n ** BigInt(digits))

/**
 * Bytes as base58 has them, from lower-case hex. Zero bytes at the beginning are a `1` each.
 * @see https://datatracker.ietf.org/doc/html/draft-msporny-base58-03
 * @example toBase58(`0x${'00'.repeat(32)}`) === '1'.repeat(32)
 */
export function toBase58(hex: string): string {
  const all = POWERS[TOGETHER] as bigint
  let text = ''
  for (let value = BigInt(hex); value > 0n; value /= all) {
    let part = Number(value % all)
    const isFirst = value < all
    for (let i = 0; i < TOGETHER && !(isFirst && part === 0); i++) {
      text = DIGITS[part % 58] + text
      part = Math.floor(part / 58)
    }
  }
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
  for (let at = 0; at < text.length; at += TOGETHER) {
    const end = Math.min(at + TOGETHER, text.length)
    let part = 0
    for (let i = at; i < end; i++) {
      const place = PLACES[text.charCodeAt(i)] ?? -1
      if (place < 0) return undefined
      part = part * 58 + place
    }
    value = value * (POWERS[end - at] as bigint) + BigInt(part)
  }
  let zeros = 0
  while (text[zeros] === '1') zeros++
  const digits = value === 0n ? '' : value.toString(16)
  const hex = '00'.repeat(zeros) + (digits.length % 2 ? `0${digits}` : digits)
  return hex.length <= 2 * most ? `0x${hex}` : undefined
}
