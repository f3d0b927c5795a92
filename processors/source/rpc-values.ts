import { hexToNumber } from 'viem'
import { z } from 'zod'

/** Bytes or a number, as JSON-RPC writes both. */
export const hex = z.string().regex(/^0x[0-9a-fA-F]*$/)
export const quantity = hex.transform(text => hexToNumber(text as `0x${string}`))
