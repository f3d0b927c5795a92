import { type Address, maxUint256 } from 'viem'
import { HOUR } from '../../../db/units.ts'
import type { Token } from '../family.ts'
import { units } from '../wallet.ts'
import type { BorrowAction, BorrowPosition, MarketAssetRef } from './family.ts'

/** Seconds within which a transaction is taken to land: limits and `all` hold until then. */
export const LANDING_SECONDS = HOUR

/** What an amount may be at most (base units), and why, as a sentence. */
export interface Bound {
  most: bigint
  because: string
}

/** What each action may be of. Of supply and repay: beside what the wallet holds. */
export type BorrowBounds = Record<BorrowAction, Bound>

/** The bound that allows least; where two allow the same, the first. */
export function tightest(...bounds: readonly Bound[]): Bound {
  const none: Bound = { most: maxUint256, because: '' }
  return bounds.reduce((least, bound) => (bound.most < least.most ? bound : least), none)
}

/** A reason why nothing can be done, as a bound. */
export const closed = (because: string | undefined): Bound[] => (because ? [{ most: 0n, because }] : [])

/** What a cap leaves over the total that counts against it; undefined: no cap. */
export function capped(
  what: 'supply' | 'borrow',
  cap: bigint | undefined,
  total: bigint,
  token: Token,
): Bound[] {
  if (cap === undefined) return []
  const room = cap > total ? cap - total : 0n
  return [{ most: room, because: `The ${what} cap leaves room for ${units(room, token)}.` }]
}

export const suppliedBound = ({ balances, token }: BorrowPosition): Bound => ({
  most: balances.supplied,
  because: `The wallet has supplied ${units(balances.supplied, token)}.`,
})

export const owedBound = ({ balances, token }: BorrowPosition): Bound => ({
  most: balances.borrowed,
  because: `The wallet owes ${units(balances.borrowed, token)}.`,
})

/** The largest amount up to `most` that passes; `passes` is true up to some amount and false beyond. */
export function largest(most: bigint, passes: (amount: bigint) => boolean): bigint {
  if (most <= 0n || !passes(1n)) return 0n
  let low = 1n
  let high = most
  while (low < high) {
    const middle = (low + high + 1n) / 2n
    if (passes(middle)) low = middle
    else high = middle - 1n
  }
  return low
}

/** What can be borrowed after something was made collateral. Lists of these begin with what takes least, which is nothing. */
export interface BorrowOption {
  enabling: readonly Address[]
  bound: Bound
}

/** The option that allows most; where two allow the same, the first. */
export const bestOption = (options: readonly BorrowOption[]): BorrowOption =>
  options.reduce((best, option) => (option.bound.most > best.bound.most ? option : best))

/** What has to be made collateral to borrow so much. */
export const enablingFor = (options: readonly BorrowOption[], amount: bigint): readonly Address[] =>
  (options.find(({ bound }) => bound.most >= amount) ?? bestOption(options)).enabling

/** What is made collateral to borrow most, where nothing can be borrowed without. */
export const neededEnabling = (options: readonly BorrowOption[]): readonly Address[] =>
  options[0]?.bound.most === 0n ? bestOption(options).enabling : []

export const tokenOf = ({ info }: MarketAssetRef): Token => info as Token
