import type { Catalogue } from './catalogue/catalogue.ts'
import { type PlanPeriod, type PricePlan, planPrices } from './catalogue/prices.ts'
import type { EndpointContext } from './endpoint.ts'
import { feedWindow, sharePriceWindow } from './queries/history.ts'
import { ask } from './queries/query.ts'

interface Point {
  at: number
  value: number
}

type Asking = Pick<EndpointContext, 'deps' | 'catalogue' | 'signal' | 'touch'>

/** How an asset's price was made over a stretch of time (unix seconds, inclusive), by the facts that held then. */
export function plansOver(
  catalogue: Catalogue,
  { chainId, address }: { chainId: number; address: string },
  window: { from: number; to: number },
): PlanPeriod[] {
  const assetOf = (chain: number, vault: string) => catalogue.find(chain, vault)?.state.asset
  return planPrices(catalogue.facts, assetOf, chainId, address, window)
}

/**
 * The prices of an asset at these moments (unix seconds, ascending), made as the facts of each moment say: of each part
 * its last value at or before the moment. Undefined where a part had none yet.
 */
export async function pricesAt(
  asset: { chainId: number; address: string },
  times: readonly number[],
  context: Asking,
): Promise<(number | undefined)[]> {
  const from = times[0]
  const to = times.at(-1)
  if (from === undefined || to === undefined) return []
  const periods = plansOver(context.catalogue, asset, { from, to })
  const prices = await Promise.all(
    periods.map(({ since, until, plan }) =>
      pricesOfPlan(
        plan,
        times.filter(time => time >= since && (until === undefined || time < until)),
        context,
      ),
    ),
  )
  return prices.flat()
}

async function pricesOfPlan(
  plan: PricePlan | undefined,
  times: readonly number[],
  context: Asking,
): Promise<(number | undefined)[]> {
  const first = times[0]
  const last = times.at(-1)
  if (!plan || first === undefined || last === undefined) return times.map(() => undefined)
  const legs = await Promise.all(
    legsOf(plan).map(leg => {
      const p = context.catalogue.chain(leg.chainId)?.position ?? 0
      context.touch(leg.chainId)
      const window = { chain: leg.chainId, p, from: first, to: last }
      return 'feed' in leg
        ? ask(context.deps.clickhouse, feedWindow, { ...window, feed: leg.feed }, context.signal)
        : ask(context.deps.clickhouse, sharePriceWindow, { ...window, vault: leg.vault }, context.signal)
    }),
  )
  const values = legs.map(points => lastAtOrBefore(points, times))
  return times.map((_, i) =>
    values.reduce<number | undefined>(
      (price, of) => (price === undefined || of[i] === undefined ? undefined : price * of[i]),
      plan.constant,
    ),
  )
}

export function legsOf(plan: PricePlan) {
  return [...plan.vaults, ...(plan.feed ? [plan.feed] : [])]
}

/** For each moment the value of the last point at or before it; both ascending. */
export function lastAtOrBefore(points: readonly Point[], times: readonly number[]): (number | undefined)[] {
  let next = 0
  let value: number | undefined
  return times.map(time => {
    for (let point = points[next]; point && point.at <= time; point = points[next]) {
      value = point.value
      next++
    }
    return value
  })
}
