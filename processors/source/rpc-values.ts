import { hexToNumber } from 'viem'
import { z } from 'zod'

const HEX = /^0x[0-9a-fA-F]*$/
export const isHex = (value: unknown): value is string => typeof value === 'string' && HEX.test(value)
export const numberOf = (text: string) => hexToNumber(text as `0x${string}`)

/** Bytes or a number, as JSON-RPC writes both. */
export const hex = z.string().regex(HEX)
export const quantity = hex.transform(numberOf)
