import { lastBy } from '../moment/last-by.ts'
import type { PriceAt } from './asset-prices.ts'
import { type Account, accountOf, type Method, type Movement, midnightsOf } from './statement.ts'

/** After `from`, up to `to`; unix seconds. */
export interface Period {
  from: number
  to: number
}

/** What happened to shares of a vault in one block, of all accounts together. */
export interface ShareMovement {
  /** Unix seconds. */
  at: number
  block: number
  /** Whose shares came or went. */
  accounts: readonly string[]
  /** How many more there were after it, for whatever reason. */
  delta: bigint
  /** Shares made for assets that were paid in, and those burned for assets that were paid out, asset base units. */
  minted: bigint
  burned: bigint
  deposited: bigint | undefined
  withdrawn: bigint | undefined
}

/** Shares of one vault from the very first on, ascending, and what they are worth in the asset, base units. */
export interface Shares {
  assetDecimals: number
  priceAt: PriceAt
  movements: readonly ShareMovement[]
  worthAt(shares: bigint, at: number): bigint | undefined
  /** Of shares that came or went without assets, at the end of the block. */
  worthSent(shares: bigint, movement: ShareMovement): bigint | undefined
}

export interface StatedShares {
  /** All that ever had any. */
  accounts: string[]
  openingShares: bigint
  closingShares: bigint
  account: Account
}

export function accountOfShares(
  { assetDecimals, priceAt, movements, worthAt, worthSent }: Shares,
  { from, to, method }: Period & { method: Method },
): StatedShares {
  const balances = balancesOf(movements)
  const sharesAt = (at: number) => lastBy(balances, at)?.shares ?? 0n
  const mark = (at: number) => {
    const shares = sharesAt(at)
    return { at, value: shares === 0n ? 0n : worthAt(shares, at), price: priceAt(at) }
  }
  const ledger = {
    assetDecimals,
    movements: movements.map((movement): Movement => {
      const { at, minted, burned, deposited, withdrawn } = movement
      const sent = sentIn(movement)
      const sentWorth = sent === 0n ? 0n : worthSent(sent, movement)
      return { at, minted, burned, deposited, withdrawn, sent, sentWorth, price: priceAt(at) }
    }),
    opening: mark(from),
    closing: mark(to),
    midnights: midnightsOf({ from, to }).map(mark),
  }
  return {
    accounts: [...new Set(movements.flatMap(({ accounts }) => accounts))].sort(),
    openingShares: sharesAt(from),
    closingShares: sharesAt(to),
    account: accountOf(ledger, method),
  }
}

/** The moments of which it is asked what shares are worth, ascending. */
export const timesOf = (movements: readonly { at: number }[], { from, to }: Period) =>
  [...new Set([...movements.map(({ at }) => at), ...midnightsOf({ from, to }), from, to])].sort(
    (a, b) => a - b,
  )

/** Shares that came less shares that went, without assets. */
export const sentIn = ({ delta, minted, burned }: ShareMovement) => delta - minted + burned

/** Whether anything came or went: what one of the accounts gave to another did not. */
const hasMoved = ({ delta, minted, burned, deposited, withdrawn }: ShareMovement) =>
  [delta, minted, burned, deposited, withdrawn].some(amount => amount !== 0n)

/** How many shares there were after each movement. */
function balancesOf(movements: readonly ShareMovement[]): { at: number; shares: bigint }[] {
  let shares = 0n
  return movements.map(({ at, delta }) => {
    shares += delta
    return { at, shares }
  })
}

/** Something was there when the period began, or moved in it. */
export const isIn = (movements: readonly ShareMovement[], { from, to }: Period) =>
  movements.some(of => of.at > from && of.at <= to && hasMoved(of)) ||
  (lastBy(balancesOf(movements), from)?.shares ?? 0n) !== 0n
