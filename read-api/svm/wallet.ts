import type { Key } from '../../abi/svm/programs.ts'
import { decodeTokenAccount, type TokenAccount } from '../../abi/svm/token.ts'
import type { OwnAccounts } from './family.ts'
import type { SvmAccount } from './node.ts'

/** Undefined where there is none: anybody can send SOL to the address beforehand. */
export function tokensIn(account: SvmAccount | undefined): TokenAccount | undefined {
  return account && decodeTokenAccount(account.owner, account.data)
}

/** Its address says whose a token account was when it was made: it may have been given away since. */
export function sharesBarred(user: Key, shares: TokenAccount | undefined): string | undefined {
  if (shares && shares.owner !== user)
    return "The wallet's token account of the share was given to another owner, who would get the shares: no transaction is prepared."
  return shares?.isFrozen ? "The wallet's token account of the share is frozen." : undefined
}

export function assetsBarred(user: Key, assets: TokenAccount | undefined): string | undefined {
  if (assets && assets.owner !== user)
    return "The wallet's token account of the asset was given to another owner, who would be paid: no transaction is prepared."
  return assets?.isFrozen ? "The wallet's token account of the asset is frozen." : undefined
}

export const above = (of: bigint, kept: bigint): bigint => (of > kept ? of - kept : 0n)

/** Why a wallet cannot pay fee and rents; undefined: it can. */
export const tooPoor = (held: bigint, needed: bigint): string | undefined =>
  held < needed
    ? `The wallet needs ${needed} lamports for the fee and the rents of accounts, ${needed - held} more than it has.`
    : undefined

export const amountAt = (accounts: OwnAccounts, place: number): bigint =>
  tokensIn(accounts[place])?.amount ?? 0n

/** Rents stay the wallet's: they lie in its own accounts. */
export const lamportsIn = (accounts: OwnAccounts): bigint =>
  accounts.reduce((total, account) => total + (account?.lamports ?? 0n), 0n)
