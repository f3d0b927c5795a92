import { groupBy } from '../../db/group-by.ts'
import type { Reading } from '../catalogue/reading.ts'
import { familyOf } from '../load-protocols.ts'
import type { LendingFamily, LendingPosition } from './family.ts'
import type { LendingMarket } from './market.ts'

/** An account's positions in markets of one chain, in their order; all of them, also empty ones. */
async function readPositions(
  markets: readonly LendingMarket[],
  account: string,
  reading: Reading,
): Promise<LendingPosition[]> {
  const found = await eachFamily(markets, (family, own) => family.positions(own, account, reading))
  const byMarket = new Map(found.map(position => [position.market, position]))
  return markets.flatMap(market => byMarket.get(market) ?? [])
}

/** Those of a wallet, and after them those of accounts that it has in a protocol, in markets of one chain. */
export async function readWallet(
  markets: readonly LendingMarket[],
  wallet: string,
  reading: Reading,
): Promise<LendingPosition[]> {
  const [own, subs] = await Promise.all([
    readPositions(markets, wallet, reading),
    eachFamily(markets, (family, of) => family.positionsOfSubAccounts?.(of, wallet, reading)),
  ])
  return [...own, ...subs]
}

/** Without a debt that stands in several markets of its protocol where it does not belong. */
export function distinctPositions(positions: readonly LendingPosition[]): LendingPosition[] {
  const all = groupBy(positions, ({ market }) => familyOf(market))
  const kept = new Set([...all].flatMap(([family, own]) => family.distinct?.(own) ?? own))
  return positions.filter(position => kept.has(position))
}

/** What each family says of the markets that are its own. */
async function eachFamily<T>(
  markets: readonly LendingMarket[],
  ask: (family: LendingFamily, own: LendingMarket[]) => Promise<T[]> | undefined,
): Promise<T[]> {
  const byFamily = groupBy(markets, familyOf)
  return (await Promise.all([...byFamily].map(([family, own]) => ask(family, own) ?? []))).flat()
}

const isEmpty = ({ assets }: LendingPosition) =>
  assets.every(({ supplied, borrowed }) => supplied === 0n && borrowed === 0n)
const safety = ({ ltv, healthFactor }: LendingPosition) =>
  healthFactor ?? (ltv === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY)

/**
 * Of a wallet's positions in one market the one to show: its own, or, where it has nothing there itself, that of the
 * sub-account that is closest to liquidation; and the accounts of the others.
 */
export function mainPosition(
  positions: readonly LendingPosition[],
): { position: LendingPosition; others: string[] } | undefined {
  const [own, ...subs] = positions
  if (!own) return undefined
  const [riskiest] = subs.toSorted((a, b) => (safety(a) < safety(b) ? -1 : safety(a) > safety(b) ? 1 : 0))
  const position = riskiest && isEmpty(own) ? riskiest : own
  return { position, others: subs.filter(of => of !== position).map(({ account }) => account) }
}
