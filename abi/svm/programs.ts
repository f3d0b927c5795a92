import { fromBase58 } from '../../db/base58.ts'

/** An account of a chain of Solana's kind: 32 bytes, lower-case hex. */
export type Key = `0x${string}`

/** Of an address as the wire has it; only for what is written down here. */
export function keyOf(base58: string): Key {
  const hex = fromBase58(base58)
  if (!hex) throw new TypeError(`${base58} is no address of 32 bytes`)
  return hex as Key
}

/** Programs and accounts that every such chain has. @see docs.solana.com, native programs and sysvars */
export const SYSTEM_PROGRAM = keyOf('11111111111111111111111111111111')
export const STAKE_PROGRAM = keyOf('Stake11111111111111111111111111111111111111')
export const COMPUTE_BUDGET_PROGRAM = keyOf('ComputeBudget111111111111111111111111111111')
export const LOOKUP_TABLE_PROGRAM = keyOf('AddressLookupTab1e1111111111111111111111111')
export const CLOCK = keyOf('SysvarC1ock11111111111111111111111111111111')
export const STAKE_HISTORY = keyOf('SysvarStakeHistory1111111111111111111111111')

/** @see spl.solana.com: Token, Token-2022, Associated Token Account */
export const TOKEN_PROGRAM = keyOf('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
export const TOKEN_2022_PROGRAM = keyOf('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
export const ASSOCIATED_TOKEN_PROGRAM = keyOf('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')

/** The mint that stands for the chain's own coin: a token account of it holds as many lamports. */
export const WRAPPED_SOL = keyOf('So11111111111111111111111111111111111111112')
/** Lamports of a coin are 10^9. */
export const SOL_DECIMALS = 9
