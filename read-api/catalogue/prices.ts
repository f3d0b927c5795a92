import { isRebasing } from '../../db/protocols.ts'
import type { Facts } from '../../db/registry/kinds.ts'
import { DAY } from '../../db/units.ts'
import type { FactBook } from './facts.ts'

/**
 * How an asset's USD price is made: `constant` × the share prices of `vaults` × the price of `feed`. Undefined where
 * the facts lead nowhere: the price is unknown then, which is not zero.
 */
export interface PricePlan {
  constant: number
  /** Vaults whose shares the asset is, outermost first. */
  vaults: readonly { chainId: number; vault: string }[]
  feed: QuotedFeed | undefined
}

/** What is multiplied; of what is a price by decree alone, nothing. */
export function legsOf(plan: PricePlan) {
  return [...plan.vaults, ...(plan.feed ? [plan.feed] : [])]
}

export interface QuotedFeed {
  chainId: number
  feed: string
  /** Seconds within which it reports whatever the price does; absent: not known. */
  heartbeat?: number
}

const LONGEST_HEARTBEAT = DAY
/** A feed that missed this many reports has stopped: what it said last is no price. */
const MISSED_REPORTS = 3

/** The age in seconds beyond which a report of a feed is no price any more. */
export function greatestAge({ heartbeat = LONGEST_HEARTBEAT }: Pick<QuotedFeed, 'heartbeat'>): number {
  return MISSED_REPORTS * heartbeat
}

/** Nested deeper than this is taken for a circle. */
export const MAX_DEPTH = 8

type Quoted = (chainId: number, asset: string) => Partial<Pick<Facts<'asset'>, 'feed' | 'peg'>>
type VaultOf = (chainId: number, vault: string) => { asset: string; protocol: string } | undefined

/** Follows facts from an asset to a feed or a fixed price. `vaultOf` gives a known vault. */
export function planPrice(
  facts: FactBook,
  vaultOf: VaultOf,
  chainId: number,
  asset: string,
): PricePlan | undefined {
  return follow((chain, of) => facts.asset(chain, of), vaultOf, chainId, asset)
}

export interface PlanPeriod {
  /** Unix seconds; `until` is exclusive, and absent where nothing follows by `to`. */
  since: number
  until: number | undefined
  plan: PricePlan | undefined
}

/** How the price was made over a stretch of time, inclusive, by the facts that held then: at least one period. */
export function planPrices(
  facts: FactBook,
  vaultOf: VaultOf,
  chainId: number,
  asset: string,
  { from, to }: { from: number; to: number },
): PlanPeriod[] {
  const periods: PlanPeriod[] = []
  let since = from
  while (true) {
    let until = Number.POSITIVE_INFINITY
    const plan = follow(
      (chain, of) => {
        const { quote, until: end } = facts.quoteAt(chain, of, since)
        if (end !== undefined) until = Math.min(until, end)
        return quote ?? {}
      },
      vaultOf,
      chainId,
      asset,
    )
    if (until > to) {
      periods.push({ since, until: undefined, plan })
      return periods
    }
    periods.push({ since, until, plan })
    since = until
  }
}

function follow(quoted: Quoted, vaultOf: VaultOf, chainId: number, asset: string): PricePlan | undefined {
  const vaults: { chainId: number; vault: string }[] = []
  let current = asset
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const { feed, peg } = quoted(chainId, current)
    if (feed) {
      const { heartbeat } = feed
      const quoted = {
        chainId: feed.chainId ?? chainId,
        feed: feed.feed,
        ...(heartbeat ? { heartbeat } : {}),
      }
      return { constant: 1, vaults, feed: quoted }
    }
    if (peg && 'usd' in peg) {
      const constant = Number(peg.usd)
      return Number.isFinite(constant) ? { constant, vaults, feed: undefined } : undefined
    }
    if (peg) {
      current = peg.of
      continue
    }
    const vault = vaultOf(chainId, current)
    if (vault === undefined) return undefined
    if (!isRebasing(vault.protocol)) vaults.push({ chainId, vault: current })
    current = vault.asset
  }
  return undefined
}

/** The price a plan gives with these figures; undefined where one of them is unknown. `age`: the most that a report may have. */
export function priceOf(
  plan: PricePlan | undefined,
  sharePrice: (chainId: number, vault: string) => number | undefined,
  feedPrice: (chainId: number, feed: string, age: number) => number | undefined,
): number | undefined {
  if (!plan) return undefined
  let price = plan.constant
  if (plan.feed) {
    const quoted = feedPrice(plan.feed.chainId, plan.feed.feed, greatestAge(plan.feed))
    if (quoted === undefined) return undefined
    price *= quoted
  }
  for (const { chainId, vault } of plan.vaults) {
    const share = sharePrice(chainId, vault)
    if (share === undefined) return undefined
    price *= share
  }
  return price
}
