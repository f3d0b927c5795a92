import type { KaminoVault } from '../../../abi/kamino/vault.ts'
import { FARMS_PROGRAM } from '../../../abi/kamino/vault.ts'
import type { Key } from '../../../abi/svm/programs.ts'
import type { ProgramError } from '../../svm/family.ts'

export const TOO_LITTLE_LEFT =
  'The reserves that the vault lends in hold less than that which is not lent out: redeemLimit of the context says how much can be redeemed at once.'

/** @see npm @kamino-finance/klend-sdk 8.0.2, kvault.json and klend.json, errors; what klend refuses comes through the vault's program */
const OF_VAULTS: Readonly<Record<number, string>> = {
  1: 'The wallet has too little of the asset, or too few shares.',
  6008: TOO_LITTLE_LEFT,
  6011: TOO_LITTLE_LEFT,
  6042: 'The lending market is in emergency mode.',
  6064: 'A reserve that the vault lends in has paid as much as it pays in a while: try again later.',
  6132: 'A reserve that the vault lends in pays nothing at present.',
  6175: 'A reserve that the vault lends in is in emergency mode.',
  7024: TOO_LITTLE_LEFT,
  7028: 'Nothing lies in the vault.',
  7037: 'The vault owes more fees than lies in it.',
  7038: 'So small a deposit gives no share: ask for more.',
  7039: 'So few shares pay nothing: ask for more.',
  7040: 'So few shares pay nothing: ask for more.',
  7042: 'Nothing lies in the vault.',
  7049: 'What is kept of a withdrawal is all of it: ask for more.',
  7050: 'So few shares pay nothing: ask for more.',
}

/** @see npm @kamino-finance/farms-sdk 4.0.1, errors/farms.ts */
const OF_FARMS: Readonly<Record<number, string>> = {
  6036: 'Shares that were unstaked cannot be taken out of the farm yet.',
  6037: 'Shares that were unstaked before have to be taken out of the farm first.',
  6041: 'Shares cannot be taken out of the farm before their time.',
  6045: 'The farm of the shares takes no more of them.',
}

/** An error of the vault's program, or of that of its farm, in words. */
export function wordsOf(
  { minDeposit, minWithdrawal }: KaminoVault,
  code: number,
  program: Key,
): ProgramError | undefined {
  const of = program === FARMS_PROGRAM ? OF_FARMS : OF_VAULTS
  const bounds: Readonly<Record<number, string>> = {
    7004: `The vault pays nothing below ${minWithdrawal + 1n} base units at once: ask for more.`,
    7026: `The vault takes no deposit below ${minDeposit} base units: deposit more.`,
  }
  const text = of[code] ?? (program === FARMS_PROGRAM ? undefined : bounds[code])
  return text === undefined ? undefined : { text }
}
