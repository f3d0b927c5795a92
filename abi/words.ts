import { MalformedLogError } from '../db/process/errors.ts'

/**
 * Words of ABI-encoded logs, sliced straight out of their hex. `at` is always the index of the word's first hex
 * character in a string that starts with `0x`: word n of data stands at 2 + 64 * n.
 * Every reader refuses dirty padding: a log whose words do not hold what its signature says is not that event.
 */

/** The part of a log that its arguments stand in. */
export interface LogWords {
  topics: readonly string[]
  data: string
}

/** What the generator writes for one event. `dataLength` is in bytes. */
export interface EventAbi<Args> {
  name: string
  signature: string
  topic0: string
  topicCount: number
  dataLength: number | { min: number }
  decode(log: LogWords): Args
}

/** What the generator writes for one function; `inputs` are its ABI types. */
export interface FunctionAbi {
  signature: string
  selector: string
  inputs: readonly string[]
}

const zeros24 = '0'.repeat(24)
const zeros48 = '0'.repeat(48)
const zeros62 = '0'.repeat(62)
const two256 = 1n << 256n
const sign256 = 1n << 255n

function malformed(what: string, word: string): never {
  throw new MalformedLogError(`${what} expected, got ${word.slice(0, 66) || 'nothing'}`)
}

/** The n-th topic, 0x and 64 digits. */
export function topic(log: LogWords, n: number): string {
  const word = log.topics[n]
  if (word === undefined || word.length !== 66) malformed(`topic ${n}`, word ?? '')
  return word
}

export function word(hex: string, at: number): string {
  const end = at + 64
  if (end > hex.length) malformed(`32 bytes at ${(at - 2) / 2}`, hex.slice(at))
  return hex.slice(at, end)
}

export function address(hex: string, at: number): string {
  if (at + 64 > hex.length || !hex.startsWith(zeros24, at)) malformed('address', hex.slice(at, at + 64))
  return `0x${hex.slice(at + 24, at + 64)}`
}

export function bytes(hex: string, at: number, length: number): string {
  const w = word(hex, at)
  const end = length * 2
  for (let i = end; i < 64; i++) if (w.charCodeAt(i) !== 48) malformed(`bytes${length}`, w)
  return `0x${w.slice(0, end)}`
}

export function bool(hex: string, at: number): boolean {
  if (!hex.startsWith(zeros62, at)) malformed('bool', hex.slice(at, at + 64))
  const last = hex.slice(at + 62, at + 64)
  if (last !== '00' && last !== '01') malformed('bool', last)
  return last === '01'
}

/** An unsigned integer of more than 48 bits. */
export function uint(hex: string, at: number, bits: number): bigint {
  const w = word(hex, at)
  // Most amounts fit a double exactly; that path is several times faster than BigInt's own parser.
  const value = w.startsWith(zeros48) && w.charCodeAt(48) === 48 && w.charCodeAt(49) === 48 && w.charCodeAt(50) === 48
    ? BigInt(Number.parseInt(w.slice(51), 16))
    : BigInt(`0x${w}`)
  if (bits < 256 && value >> BigInt(bits) !== 0n) malformed(`uint${bits}`, w)
  return value
}

/** An unsigned integer of at most 48 bits. */
export function smallUint(hex: string, at: number, bits: number): number {
  const w = word(hex, at)
  if (!w.startsWith(zeros48)) malformed(`uint${bits}`, w)
  const value = Number.parseInt(w.slice(48), 16)
  if (value >= 2 ** bits) malformed(`uint${bits}`, w)
  return value
}

/** A signed integer, two's complement. */
export function int(hex: string, at: number, bits: number): bigint {
  const raw = BigInt(`0x${word(hex, at)}`)
  const value = raw >= sign256 ? raw - two256 : raw
  if (bits < 256) {
    const limit = 1n << BigInt(bits - 1)
    if (value >= limit || value < -limit) malformed(`int${bits}`, word(hex, at))
  }
  return value
}

/** Bytes of dynamic length whose offset (from `base`, the start of the encoding) stands at `at`. */
export function dynamicBytes(hex: string, at: number, base = 2): string {
  const start = base + smallUint(hex, at, 48) * 2
  const length = smallUint(hex, start, 48) * 2
  const end = start + 64 + length
  if (end > hex.length) malformed(`${length / 2} bytes`, hex.slice(start, start + 64))
  return `0x${hex.slice(start + 64, end)}`
}

/** Unsigned integers, any number of them, whose offset (from `base`, the start of the encoding) stands at `at`. */
export function uints(hex: string, at: number, bits: number, base = 2): bigint[] {
  const start = base + smallUint(hex, at, 48) * 2
  const length = smallUint(hex, start, 48)
  if (start + 64 * (1 + length) > hex.length) malformed(`${length} words`, hex.slice(start, start + 64))
  return Array.from({ length }, (_, i) => uint(hex, start + 64 * (1 + i), bits))
}

/** UTF-8 text of dynamic length; what is not UTF-8 becomes U+FFFD. */
export function text(hex: string, at: number, base = 2): string {
  return utf8(dynamicBytes(hex, at, base))
}

export function utf8(hex: string): string {
  return Buffer.from(hex.slice(2), 'hex').toString('utf8')
}

/** Call data for a function whose arguments are all static unsigned integers or addresses. */
export function encodeCall(fn: FunctionAbi, ...args: (bigint | string)[]): string {
  return (
    fn.selector +
    args.map(arg => (typeof arg === 'bigint' ? arg.toString(16) : arg.slice(2)).padStart(64, '0')).join('')
  )
}
