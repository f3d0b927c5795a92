import type { Catalogue } from '../catalogue/catalogue.ts'
import { greatestAge, legsOf, type PlanPeriod, type PricePlan, planPrices } from '../catalogue/prices.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { ask } from '../moment/query.ts'
import { feedWindow, sharePriceWindow } from './history-queries.ts'

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
  const vaultOf = (chain: number, address: string) => {
    const vault = catalogue.find(chain, address)
    return vault?.standing === 'found' ? undefined : vault?.state
  }
  return planPrices(catalogue.facts, vaultOf, chainId, address, window)
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
  const [from, to] = [times[0], times.at(-1)]
  if (from === undefined || to === undefined) return []
  return (await readPrices(asset, { from, to }, context))(times)
}

/** What `pricesAt` gives for any moments inside a window (unix seconds, inclusive) that was read before. */
export async function readPrices(
  asset: { chainId: number; address: string },
  window: { from: number; to: number },
  context: Asking,
): Promise<(times: readonly number[]) => (number | undefined)[]> {
  const periods = await Promise.all(
    plansOver(context.catalogue, asset, window).map(async ({ since, until, plan }) => ({
      since,
      until,
      pricesOf: await readPlan(
        plan,
        {
          from: Math.max(window.from, since),
          to: Math.min(window.to, (until ?? Number.POSITIVE_INFINITY) - 1),
        },
        context,
      ),
    })),
  )
  return times =>
    periods.flatMap(({ since, until, pricesOf }) =>
      pricesOf(times.filter(time => time >= since && (until === undefined || time < until))),
    )
}

async function readPlan(
  plan: PricePlan | undefined,
  window: { from: number; to: number },
  context: Asking,
): Promise<(times: readonly number[]) => (number | undefined)[]> {
  if (!plan) return times => times.map(() => undefined)
  const legs = await Promise.all(
    legsOf(plan).map(leg => {
      const p = context.catalogue.chain(leg.chainId)?.position ?? 0
      context.touch(leg.chainId)
      const pinned = { chain: leg.chainId, p, ...window }
      return 'feed' in leg
        ? ask(context.deps.clickhouse, feedWindow, { ...pinned, feed: leg.feed }, context.signal)
        : ask(context.deps.clickhouse, sharePriceWindow, { ...pinned, vault: leg.vault }, context.signal)
    }),
  )
  return times => {
    const values = legs.map((points, i) => {
      const leg = legsOf(plan)[i]
      return lastAtOrBefore(points, times, leg && 'feed' in leg ? greatestAge(leg) : undefined)
    })
    return times.map((_, i) =>
      values.reduce<number | undefined>(
        (price, of) => (price === undefined || of[i] === undefined ? undefined : price * of[i]),
        plan.constant,
      ),
    )
  }
}

/** For each moment the value of the last point at or before it that is no older than `age`; both ascending. */
export function lastAtOrBefore(
  points: readonly Point[],
  times: readonly number[],
  age = Number.POSITIVE_INFINITY,
): (number | undefined)[] {
  let next = 0
  let last: Point | undefined
  return times.map(time => {
    for (let point = points[next]; point && point.at <= time; point = points[next]) {
      last = point
      next++
    }
    return last && time - last.at <= age ? last.value : undefined
  })
}
