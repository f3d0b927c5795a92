import type { ProgramError } from '../../svm/family.ts'

const MOVED =
  'The price moved while the transaction was made: it would give less than what was seen, by half a percent or more. Ask again.'

/** Asset base units below which the liquidity layer moves nothing. @see liquidity/src/constants.rs, MIN_OPERATE_AMOUNT */
export const LEAST = 10n

/** @see npm @jup-ag/lend, errors of the lending program; Instadapp/fluid-solana-programs, liquidity/src/errors.rs */
export const WORDS: Readonly<Record<number, ProgramError>> = {
  1: { text: 'The wallet has too little of the asset, or too few shares.' },
  6000: {
    name: 'FTokenDepositInsignificant',
    text: 'So small a deposit gives no share: ask for more.',
  },
  6001: { text: MOVED },
  6002: { text: MOVED },
  6006: {
    text: 'The books of the liquidity layer are behind those of the vault: it takes and pays nothing meanwhile. Try again later.',
    retryAfter: 60,
  },
  6013: { text: 'So much does not lie in the liquidity layer: it is lent on. Ask for less.' },
  6027: { text: 'The liquidity layer has paused the vault.' },
  6028: {
    text: 'So much may not leave the liquidity layer at once: its limit grows with time. Ask for less, or later.',
  },
  6030: { text: `So small an amount is not moved: ask for ${LEAST} base units or more.` },
  6033: { text: 'A transfer of the asset keeps a part of it: the vault takes no such deposit.' },
  6042: { text: 'The liquidity layer is locked: nobody can deposit or redeem.' },
}
