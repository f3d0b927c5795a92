import { getAddress } from 'viem'
import { toBase58 } from '../../db/base58.ts'

const checksummed = new Map<string, string>()

/** As the wire has an address: EIP-55 of 20 bytes, base58 of 32. Remembered: hashing one costs more than the rest of a list item. */
export function checksum(address: string): string {
  let result = checksummed.get(address)
  if (result === undefined) {
    result = address.length === 66 ? toBase58(address) : getAddress(address)
    if (checksummed.size > 200_000) checksummed.clear()
    checksummed.set(address, result)
  }
  return result
}

/** A text with every address in it in EIP-55 form; longer runs of digits are none. */
export function checksumIn(text: string): string {
  return text.replaceAll(/\b0x[0-9a-f]{40}(?![0-9a-f])/gi, found => checksum(found.toLowerCase()))
}

/** Digits that a number is good for: what arithmetic leaves beyond them (89.28800000000003) is noise. */
const SIGNIFICANT = 15

/** A number as a plain decimal string, without an exponent, down to 1e-20. */
export function decimalString(exact: number): string {
  const value = Number(exact.toPrecision(SIGNIFICANT))
  const text = String(value)
  if (!text.includes('e')) return text
  if (Math.abs(value) >= 1e21) return BigInt(Math.round(value)).toString()
  return value.toFixed(20).replace(/\.?0+$/, '')
}

/** USD on the wire; the empty string says that it is not known. */
export function usdString(value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? '' : decimalString(value)
}

/** USD of base units at a price; undefined where none is known. Nothing is worth nothing at any price. */
export function usdOf(amount: bigint, decimals: number, price: number | undefined): number | undefined {
  if (amount === 0n) return 0
  return price === undefined ? undefined : toWhole(amount, decimals) * price
}

/** Base units as a number of whole tokens: for USD and ratios only. */
export function toWhole(amount: bigint, decimals: number): number {
  const text = amount.toString()
  const digits = text.replace('-', '')
  const sign = text.startsWith('-') ? '-' : ''
  if (decimals === 0) return Number(text)
  const padded = digits.padStart(decimals + 1, '0')
  return Number(`${sign}${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`)
}
