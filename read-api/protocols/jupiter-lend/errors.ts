import type { ProgramError } from '../../svm/family.ts'

const MOVED =
  'The price moved while the transaction was made: it would give less than what was seen, by half a percent or more. Ask again.'

/** @see npm @jup-ag/lend, errors of the lending program; Instadapp/fluid-solana-programs, liquidity/src/errors.rs */
export const WORDS: Readonly<Record<number, ProgramError>> = {
  1: { text: 'The wallet has too little of the asset, or too few shares.' },
  6000: { text: 'So small a deposit gives no share: ask for more.' },
  6001: { text: MOVED },
  6002: { text: MOVED },
  6006: {
    text: 'The books of the liquidity layer are behind those of the vault: it takes and pays nothing meanwhile. Try again later.',
    retryAfter: 60,
  },
}
