import { hexToNumber } from 'viem'
import { z } from 'zod'

const HEX = /^0x[0-9a-fA-F]*$/
const LOWER_HEX = /^0x[0-9a-f]*$/

/** In lower case; undefined where it is no hex. As it is, where it is in lower case: nodes write it so. */
export function lowerHex(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  if (LOWER_HEX.test(value)) return value
  return HEX.test(value) ? value.toLowerCase() : undefined
}

/** undefined where it is no hex, or more than a number can be exactly. */
export function quantityOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && HEX.test(value) ? Number(value) : Number.NaN
  return Number.isSafeInteger(number) ? number : undefined
}

/** Bytes or a number, as JSON-RPC writes both. */
export const hex = z.string().regex(HEX)
export const quantity = hex.transform(text => hexToNumber(text as `0x${string}`))
