import { z } from 'zod'

// Shapes of the fields of events, which vocabulary.ts is made of.

/** 20 bytes of an EVM chain, 32 of one of Solana's kind. */
export const address = z.string().regex(/^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
export const bytes32 = z.string().regex(/^0x[0-9a-f]{64}$/)
export const uint = z.bigint().nonnegative()
export const int = z.bigint()
export const text = z.string()
export const count = z.number().int().nonnegative()
export const unixSeconds = z.number().int().nonnegative()
