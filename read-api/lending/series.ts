import type { Reading } from '../catalogue/reading.ts'
import { lastBy } from '../moment/last-by.ts'
import { ask, defineQuery, type NamedQuery, uint, z } from '../moment/query.ts'
import { inTimes, lastOfBuckets, type Subject, statesAtTimes } from '../moment/states-at.ts'
import { VISIBLE_ON_CHAIN as VISIBLE } from '../moment/visible.ts'
import type { Window } from './family.ts'

/**
 * States of lending markets over time, ascending: the last one at or before {from}, and of those after it, up to {to}, the
 * last one before each bucket of {seconds} begins. Between two of them nothing happened but interest.
 */
export function defineSeries<Row extends z.ZodRawShape>(of: Subject<Row>) {
  const market = `${of.columns.table} WHERE ${VISIBLE} AND ${of.key}`
  return {
    first: defineQuery({
      name: `${of.name}_first`,
      sql: `SELECT toUnixTimestamp(timestamp) AS at FROM ${market} ORDER BY timestamp LIMIT 1`,
      row: z.object({ at: uint }),
    }),
    states: lastOfBuckets(of, 'intDiv(seconds_at + {seconds:UInt32} - 1, {seconds:UInt32})'),
    statesAt: statesAtTimes(of),
  }
}

interface Series<R extends z.ZodType<{ at: number; block: number }>> {
  first: NamedQuery<z.ZodType<{ at: number }>>
  states: NamedQuery<R>
  statesAt: NamedQuery<R>
}
type Row<S> = S extends Series<infer R> ? z.output<R> : never

type AnySeries = Series<z.ZodType<{ at: number; block: number }>>

/**
 * The states of one market that buckets of a window begin with. The first series decides when the market began, and those
 * that are needed do too; of the others there may be none yet.
 */
export async function readStates<
  M extends AnySeries,
  O extends Record<string, { of: AnySeries; key?: Record<string, string>; isNeeded?: boolean }>,
>(
  chain: number,
  main: M,
  others: O,
  key: Record<string, string>,
  { seconds, from, to, limit, offset }: Window,
  { deps, catalogue, signal }: Reading,
): Promise<{ at: number; state: Row<M>; also: { [K in keyof O]: Row<O[K]['of']> | undefined } }[]> {
  const { position: p = 0, blockTime = 0 } = catalogue.chain(chain, 'lending') ?? {}
  const pinned = { chain, p, ...key }
  const needed = Object.values(others).filter(({ isNeeded }) => isNeeded)
  const firsts = await Promise.all(
    [{ of: main, key: {} }, ...needed].map(async other => {
      const [row] = await ask(deps.clickhouse, other.of.first, { ...pinned, ...other.key }, signal)
      return row?.at ?? Number.POSITIVE_INFINITY
    }),
  )
  const began = Math.max(...firsts)
  const start = Math.max(from, Math.ceil(began / seconds) * seconds) + offset * seconds
  const end = Math.min(to - 1, blockTime, start + (limit - 1) * seconds)
  if (start > end) return []
  const asked = { ...pinned, seconds, from: start, to: end }
  const names = Object.keys(others)
  const [rows, ...more] = await Promise.all([
    ask(deps.clickhouse, main.states, asked, signal),
    ...names.map(name => {
      const other = others[name]
      return other ? ask(deps.clickhouse, other.of.states, { ...asked, ...other.key }, signal) : []
    }),
  ])
  const walk = <T extends { at: number }>(list: readonly T[]) => {
    let next = 0
    return (at: number) => {
      while ((list[next]?.at ?? Number.POSITIVE_INFINITY) <= at) next++
      return list[next - 1]
    }
  }
  const stateAt = walk(rows as Row<M>[])
  const othersAt = more.map(list => walk(list))
  const points = []
  for (let at = start; at <= end; at += seconds) {
    const state = stateAt(at)
    const also = Object.fromEntries(names.map((name, i) => [name, othersAt[i]?.(at)]))
    if (state) points.push({ at, state, also: also as { [K in keyof O]: Row<O[K]['of']> | undefined } })
  }
  return points
}

/**
 * The same at any of these moments (unix seconds, ascending): undefined where the market had not begun, or one of the
 * series that are needed.
 */
export async function readStatesAt<
  M extends AnySeries,
  O extends Record<string, { of: AnySeries; key?: Record<string, string>; isNeeded?: boolean }>,
>(
  chain: number,
  main: M,
  others: O,
  key: Record<string, string>,
  times: readonly number[],
  { deps, catalogue, signal }: Reading,
): Promise<
  (at: number) => { state: Row<M>; also: { [K in keyof O]: Row<O[K]['of']> | undefined } } | undefined
> {
  const { position: p = 0 } = catalogue.chain(chain, 'lending') ?? {}
  const read = async (of: AnySeries, more: Record<string, string>) => {
    const rows = await inTimes(times, some =>
      ask(deps.clickhouse, of.statesAt, { chain, p, ...key, ...more, ...some }, signal),
    )
    return (at: number) => lastBy(rows, at)
  }
  const names = Object.keys(others)
  const [stateAt, ...more] = await Promise.all([
    read(main, {}),
    ...names.map(name => {
      const other = others[name]
      return other ? read(other.of, other.key ?? {}) : () => undefined
    }),
  ])
  return at => {
    const state = stateAt(at)
    const also = Object.fromEntries(names.map((name, i) => [name, more[i]?.(at)]))
    const isKnown = state && names.every(name => !others[name]?.isNeeded || also[name])
    if (!isKnown) return undefined
    return {
      state: state as Row<M>,
      also: also as { [K in keyof O]: Row<O[K]['of']> | undefined },
    }
  }
}

/** What does not move on the side that nobody borrows. */
export const UNMOVED = { supplyRate: 0, borrowRate: 0, borrowed: 0n, supplyIndex: 1, borrowIndex: 1 }
