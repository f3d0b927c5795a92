import type { Catalogue } from '../catalogue/catalogue.ts'
import { greatestAge, legsOf, type PlanPeriod, type PricePlan, planPrices } from '../catalogue/prices.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { ask, type NamedQuery, type z } from '../moment/query.ts'
import { inTimes } from '../moment/states-at.ts'
import { feedAtTimes, feedWindow, sharePriceAtTimes, sharePriceWindow } from './history-queries.ts'

interface Point {
  at: number
  value: number | null
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
  const pricesOf = await readPeriods(asset, { from, to }, context, (leg, window) =>
    inTimes(
      times.filter(time => time >= window.from && time <= window.to),
      some => askLeg(leg, { feed: feedAtTimes, vault: sharePriceAtTimes }, some, context),
    ),
  )
  return pricesOf(times)
}

/** What `pricesAt` gives for any moments inside a window (unix seconds, inclusive), which are not known yet. */
export function readPrices(
  asset: { chainId: number; address: string },
  window: { from: number; to: number },
  context: Asking,
): Promise<PricesOf> {
  return readPeriods(asset, window, context, (leg, within) =>
    askLeg(leg, { feed: feedWindow, vault: sharePriceWindow }, reaching(leg, within), context),
  )
}

/** With what was said before a window and may still hold in it: of a feed nothing that is too old at its beginning. */
const reaching = (leg: Leg, { from, to }: { from: number; to: number }) =>
  'feed' in leg ? { from: Math.max(0, from - greatestAge(leg)), to } : { from, to }

type PricesOf = (times: readonly number[]) => (number | undefined)[]
type Leg = ReturnType<typeof legsOf>[number]
type ReadLeg = (leg: Leg, window: { from: number; to: number }) => Promise<Point[]>

function askLeg(
  leg: Leg,
  of: Record<'feed' | 'vault', NamedQuery<z.ZodType<Point>>>,
  parameters: Record<string, unknown>,
  { deps, catalogue, signal }: Asking,
): Promise<Point[]> {
  const pinned = { chain: leg.chainId, p: catalogue.chain(leg.chainId)?.position ?? 0, ...parameters }
  return 'feed' in leg
    ? ask(deps.clickhouse, of.feed, { ...pinned, feed: leg.feed }, signal)
    : ask(deps.clickhouse, of.vault, { ...pinned, vault: leg.vault }, signal)
}

async function readPeriods(
  asset: { chainId: number; address: string },
  window: { from: number; to: number },
  context: Asking,
  readLeg: ReadLeg,
): Promise<PricesOf> {
  const periods = await Promise.all(
    plansOver(context.catalogue, asset, window).map(async ({ since, until, plan }) => {
      const within = {
        from: Math.max(window.from, since),
        to: Math.min(window.to, (until ?? Number.POSITIVE_INFINITY) - 1),
      }
      return { since, until, pricesOf: await readPlan(plan, leg => readLeg(leg, within), context) }
    }),
  )
  return times =>
    periods.flatMap(({ since, until, pricesOf }) =>
      pricesOf(times.filter(time => time >= since && (until === undefined || time < until))),
    )
}

async function readPlan(
  plan: PricePlan | undefined,
  readLeg: (leg: Leg) => Promise<Point[]>,
  context: Asking,
): Promise<PricesOf> {
  if (!plan) return times => times.map(() => undefined)
  const legs = await Promise.all(
    legsOf(plan).map(async leg => {
      context.touch(leg.chainId)
      return { points: await readLeg(leg), age: 'feed' in leg ? greatestAge(leg) : undefined }
    }),
  )
  return times => {
    const values = legs.map(({ points, age }) => lastAtOrBefore(points, times, age))
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
    return last && time - last.at <= age ? (last.value ?? undefined) : undefined
  })
}
