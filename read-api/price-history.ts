import type { PricePlan } from './catalogue/prices.ts'
import type { EndpointContext } from './endpoint.ts'
import { feedWindow, sharePriceWindow } from './queries/history.ts'
import { ask } from './queries/query.ts'

interface Point {
  at: number
  value: number
}

type Asking = Pick<EndpointContext, 'deps' | 'catalogue' | 'signal' | 'touch'>

/**
 * The prices that a plan gives at these moments (unix seconds, ascending): of each part its last value at or before
 * the moment. Undefined where a part had none yet.
 */
export async function pricesAt(
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
