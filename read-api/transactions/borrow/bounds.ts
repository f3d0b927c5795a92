import { DAY, HOUR } from '../../../db/units.ts'
import { RefusedError } from '../../http/errors.ts'
import type { Plan, PlannedAction, Token } from '../family.ts'
import { approvals, units } from '../wallet.ts'
import type { BorrowAction, BorrowRequest, MarketAssetRef } from './family.ts'

/** Seconds within which a transaction is taken to land: limits and `all` hold until then. */
export const LANDING_SECONDS = HOUR
const APPROVAL_SECONDS = 30 * DAY

/** What an amount may be at most (base units), and why, as a sentence. */
export interface Bound {
  most: bigint
  because: string
}

/** The bound that allows least; where two allow the same, the first. */
export function tightest(first: Bound, ...others: readonly Bound[]): Bound {
  return others.reduce((least, bound) => (bound.most < least.most ? bound : least), first)
}

/** A reason why nothing can be done, as a bound. */
export const closed = (because: string | undefined): Bound[] => (because ? [{ most: 0n, because }] : [])

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

const verbs: Record<BorrowAction, string> = {
  supply: 'supplied',
  withdraw: 'withdrawn',
  borrow: 'borrowed',
  repay: 'repaid',
}

/** The amount of a request. `all`: what is meant by that. Throws RefusedError beyond the bound. */
export function amountWithin(
  { action, amount }: BorrowRequest,
  token: Pick<Token, 'symbol' | 'decimals'>,
  all: bigint,
  bound: Bound,
): bigint {
  if (amount === undefined) throw new RefusedError(`amount or all=true is needed for ${action}.`)
  const value = amount === 'all' ? all : amount
  if (value > bound.most || (value === 0n && amount === 'all')) {
    const asked = amount === 'all' && value <= bound.most ? '' : `, less than the ${value} asked for`
    throw new RefusedError(
      `At most ${bound.most} base units of ${token.symbol} can be ${verbs[action]} now${asked}. ${bound.because}`,
    )
  }
  if (value === 0n) throw new RefusedError(`There is nothing to do: the amount is 0 (${token.symbol}).`)
  return value
}

export const tokenOf = ({ info }: MarketAssetRef): Token => info as Token

export const walletBound = (held: bigint, asset: MarketAssetRef): Bound => ({
  most: held,
  because: `The wallet holds ${units(held, tokenOf(asset))}.`,
})

/**
 * What has to be approved for a debt that grows until it is repaid in full, and what the wallet needs for that. `owed`:
 * the debt after so many seconds from now.
 */
export function repayment(owed: (seconds: number) => bigint): { needed: bigint; approved: bigint } {
  const [now, later] = [owed(0), owed(APPROVAL_SECONDS)]
  const withMargin = now + now / 100n + 1n
  return { needed: owed(LANDING_SECONDS), approved: withMargin > later ? withMargin : later }
}

/** Throws where the wallet does not hold what repaying everything takes. */
export function refuseShortWallet(held: bigint, owed: bigint, needed: bigint, asset: MarketAssetRef): void {
  if (held >= needed) return
  const token = tokenOf(asset)
  throw new RefusedError(
    `The wallet owes ${units(owed, token)}, with the interest of an hour ${needed}, and holds ${held}: not enough to repay everything. Give an amount.`,
  )
}

/** Approving `value` where the allowance is less than `needed`, then the actions that spend it. */
export function payingPlan(
  asset: MarketAssetRef,
  spender: Token['address'],
  allowance: bigint,
  { needed, value, reset }: { needed: bigint; value: bigint; reset: boolean | undefined },
  actions: readonly PlannedAction[],
): Plan {
  const isApproved = allowance >= needed
  const before = approvals(tokenOf(asset).address, spender, value, {
    reset: reset === true && !isApproved && allowance > 0n,
  })
  return {
    actions: [...before, ...actions],
    currentActionIndex: isApproved ? before.length : 0,
    gains: [],
  }
}

export function hasNone(
  asset: MarketAssetRef,
  action: BorrowAction,
  does: readonly BorrowAction[],
): RefusedError {
  return new RefusedError(
    `${asset.info.symbol} has no ${action} in this market (${asset.id}). It has: ${does.join(', ')}.`,
  )
}
