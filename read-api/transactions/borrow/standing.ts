import type { Address } from 'viem'
import { DAY } from '../../../db/units.ts'
import { RefusedError } from '../../http/errors.ts'
import type { Plan, PlannedAction, ReadViews } from '../family.ts'
import { approvals, units } from '../wallet.ts'
import { type BorrowBounds, type Bound, LANDING_SECONDS, tightest } from './bounds.ts'
import {
  type AssetFigures,
  type BorrowAction,
  type BorrowFamily,
  type BorrowPosition,
  type BorrowRequest,
  type BorrowStanding,
  borrowActions,
  type MarketAssetRef,
  type MarketRef,
} from './family.ts'

const APPROVAL_SECONDS = 30 * DAY

export interface ActionAmount {
  /** Base units. */
  value: bigint
  /** All there is is meant, to which interest adds until the transaction lands. */
  isAll: boolean
}

/**
 * A family of lending markets, step by step: what is read, what each action may be of, and what is called for it. After
 * the read everything is pure.
 */
export interface BorrowSteps<M extends MarketRef, P extends BorrowPosition, B extends BorrowBounds> {
  readonly protocol: M['protocol']
  /** @see BorrowFamily.figures */
  figures(market: M, asset: MarketAssetRef, read: ReadViews): Promise<AssetFigures | undefined>
  read(market: M, asset: MarketAssetRef, user: Address, read: ReadViews): Promise<P>
  bounds(position: P): B
  /** @see BorrowStanding.steps */
  steps(position: P, bounds: B): BorrowStanding['steps']
  /** What is called once the amount is found to be within bounds, after the approval that supply and repay take. */
  actions: Record<BorrowAction, (position: P, amount: ActionAmount, bounds: B) => PlannedAction[]>
  /** Whether an amount repays everything, as `all` does. */
  repaysAll?(position: P, value: bigint): boolean
}

/** A family is only ever given markets of its own protocol. */
export function defineBorrowFamily<M extends MarketRef, P extends BorrowPosition, B extends BorrowBounds>(
  family: BorrowSteps<M, P, B>,
): BorrowFamily {
  return {
    protocol: family.protocol,
    look: async (market, asset, user, read) =>
      standingOf(family, await family.read(market as M, asset, user, read)),
    figures: (market, asset, read) => family.figures(market as M, asset, read),
  }
}

function standingOf<M extends MarketRef, P extends BorrowPosition, B extends BorrowBounds>(
  family: BorrowSteps<M, P, B>,
  position: P,
): BorrowStanding {
  const { block, asset, token, balances } = position
  const bounds = family.bounds(position)
  const steps = family.steps(position, bounds)
  const wallet: Bound = {
    most: balances.wallet,
    because: `The wallet holds ${units(balances.wallet, token)}.`,
  }
  const limits: BorrowBounds = {
    ...bounds,
    supply: tightest(wallet, bounds.supply),
    repay: tightest(bounds.repay, wallet),
  }
  const everything: Record<BorrowAction, bigint> = {
    supply: balances.wallet,
    withdraw: balances.supplied,
    borrow: bounds.borrow.most,
    repay: balances.borrowed,
  }

  const build = (request: BorrowRequest): Plan => {
    const { action, amount } = request
    if (steps[action].length === 0) throw hasNone(asset, action, steps)
    // To repay everything the wallet needs the interest as well, which is seen to with the approval.
    const bound = action === 'repay' && amount === 'all' ? bounds.repay : limits[action]
    const value = amountWithin(request, position, everything[action], bound)
    const isAll = amount === 'all' || (action === 'repay' && family.repaysAll?.(position, value) === true)
    const actions = family.actions[action](position, { value, isAll }, bounds)
    if (action === 'withdraw' || action === 'borrow')
      return { actions, currentActionIndex: 0, gains: [token] }
    const payment =
      action === 'repay' && isAll ? wholeRepayment(position) : { needed: value, approved: value }
    return payingPlan(position, payment, actions, request)
  }

  return {
    block,
    balances,
    limits: {
      maxWithdraw: limits.withdraw.most,
      maxBorrow: limits.borrow.most,
      maxRepay: limits.repay.most,
    },
    steps,
    build,
  }
}

function hasNone(asset: MarketAssetRef, action: BorrowAction, steps: BorrowStanding['steps']): RefusedError {
  const does = borrowActions.filter(of => steps[of].length > 0)
  return new RefusedError(
    `${asset.info.symbol} has no ${action} in this market (${asset.id}). It has: ${does.join(', ')}.`,
  )
}

const verbs: Record<BorrowAction, string> = {
  supply: 'supplied',
  withdraw: 'withdrawn',
  borrow: 'borrowed',
  repay: 'repaid',
}

/** The amount of a request. `all`: what is meant by that. Throws RefusedError beyond the bound. */
function amountWithin(
  { action, amount }: BorrowRequest,
  { token }: BorrowPosition,
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

interface Payment {
  /** What the transaction takes at most if it lands in time. */
  needed: bigint
  approved: bigint
}

/** For a debt that grows until it is repaid in full. Throws where the wallet does not hold what that takes. */
function wholeRepayment({ balances, token, owedIn }: BorrowPosition): Payment {
  const { borrowed, wallet } = balances
  const [now, landing, later] = [owedIn(0), owedIn(LANDING_SECONDS), owedIn(APPROVAL_SECONDS)]
  if (wallet < landing)
    throw new RefusedError(
      `The wallet owes ${units(borrowed, token)}, with the interest of an hour ${landing}, and holds ${wallet}: not enough to repay everything. Give an amount.`,
    )
  const withMargin = now + now / 100n + 1n
  return { needed: landing, approved: withMargin > later ? withMargin : later }
}

/** Approving where the allowance is less than what is needed, then the actions that spend it. */
function payingPlan(
  { token, contract, balances: { allowance } }: BorrowPosition,
  { needed, approved }: Payment,
  actions: readonly PlannedAction[],
  { resetAllowance }: BorrowRequest,
): Plan {
  const isApproved = allowance >= needed
  const before = approvals(token.address, contract, approved, {
    reset: resetAllowance === true && !isApproved && allowance > 0n,
  })
  return {
    actions: [...before, ...actions],
    currentActionIndex: isApproved ? before.length : 0,
    gains: [],
  }
}
