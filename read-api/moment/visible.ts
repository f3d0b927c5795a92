import type { ClickHouseClient } from '@clickhouse/client'
import type { Table } from '../../db/clickhouse/rows.ts'

/**
 * Which rows a reader at a moment sees: those that follow from events up to the chain's position, less the ones whose
 * block had been retracted by then. The one place where this is written; rows themselves never change.
 */
const NOT_RETRACTED_ON_CHAIN = `
  AND position NOT IN (SELECT position FROM retracted WHERE stream = toInt32({chain:UInt32}) AND retracted_by <= {p:UInt64})`

const NOT_RETRACTED = `
  AND (chain_id, position) NOT IN (
    SELECT toUInt32(stream), position FROM retracted
    WHERE retracted_by <= {as_of:Map(UInt32, UInt64)}[toUInt32(stream)])`

/** One chain, with {chain:UInt32} and {p:UInt64}. */
export const VISIBLE_ON_CHAIN = `chain_id = {chain:UInt32} AND position <= {p:UInt64}${NOT_RETRACTED_ON_CHAIN}`

/** Several chains, with {as_of:Map(UInt32, UInt64)}; chains not in the map are not seen. */
export const VISIBLE = `chain_id IN mapKeys({as_of:Map(UInt32, UInt64)}) AND position <= {as_of:Map(UInt32, UInt64)}[chain_id]${NOT_RETRACTED}`

/** Rows of the newest visible position of each key on one chain: two narrow columns are read before the wide ones. */
export const newest = (
  table: Table,
  key: string,
  where = '',
) => `SELECT * FROM ${table} WHERE ${VISIBLE_ON_CHAIN}${where} AND position IN (
    SELECT max(position) FROM ${table} WHERE ${VISIBLE_ON_CHAIN}${where} GROUP BY ${key}) LIMIT 1 BY ${key}`

/** What is known of a chain's retractions. Streams are only ever added to: what was true of a part of one stays true. */
interface Known {
  /** Up to here there is none. */
  straight: number
  /** Up to here the stream was looked through. */
  seen: number
  /** The newest one. */
  last: number
}

const retractions = new WeakMap<ClickHouseClient, Map<number, Known>>()
const compacted = new WeakMap<ClickHouseClient, ReadonlyMap<number, number>>()

/** Notes the newest retraction among positions (from, to] of a chain, if there is one; `from` 0 begins anew. */
export function noteRetractions(
  clickhouse: ClickHouseClient,
  chain: number,
  { from, to, last }: { from: number; to: number; last?: number | undefined },
): void {
  const chains = retractions.get(clickhouse) ?? new Map<number, Known>()
  retractions.set(clickhouse, chains)
  const known = (from > 0 && chains.get(chain)) || { straight: 0, seen: 0, last: 0 }
  // What lies between is not known: it is as if it had a retraction at its end.
  const newest = last ?? (from > known.seen ? from : known.last)
  chains.set(chain, {
    straight: newest === 0 ? Math.max(known.straight, to) : known.straight,
    seen: Math.max(known.seen, to),
    last: Math.max(known.last, newest),
  })
}

/** Notes up to which retraction of each chain the rows that were taken back are gone from all tables. */
export function noteCompacted(clickhouse: ClickHouseClient, upTo: ReadonlyMap<number, number>): void {
  compacted.set(clickhouse, upTo)
}

/**
 * The same question without a look at `retracted`, a fifth of its cost, where all that it sees lies before any retraction or all
 * retractions are compacted; with a look at those alone that are not, where some are.
 */
export function withoutRetractions(
  sql: string,
  { chain, p, as_of }: Record<string, unknown>,
  clickhouse: ClickHouseClient,
): string {
  const upTo = compacted.get(clickhouse)
  /** What every reader at a position can do without. */
  const bound = (id: number, position: number) => {
    const done = upTo?.get(id) ?? 0
    return done <= position ? done : 0
  }
  const needsNone = (id: number, position: number) => {
    const known = retractions.get(clickhouse)?.get(id)
    if (!known) return false
    if (position <= known.straight) return true
    return position <= known.seen && position >= known.last && (upTo?.get(id) ?? 0) >= known.last
  }
  let short = sql
  if (typeof chain === 'number' && typeof p === 'number') {
    const condition = needsNone(chain, p) ? '' : since(NOT_RETRACTED_ON_CHAIN, [bound(chain, p)], String)
    short = short.replaceAll(NOT_RETRACTED_ON_CHAIN, condition)
  }
  if (as_of instanceof Map) {
    const chains = [...as_of].map(([id, position]) => [Number(id), Number(position)] as const)
    const bounds = chains.map(([id, position]) => bound(id, position))
    const ofChain = () =>
      `map(${chains.map(([id], i) => `${id}, ${bounds[i]}`).join(', ')})[toUInt32(stream)]`
    const isNone = chains.every(([id, position]) => needsNone(id, position))
    short = short.replaceAll(NOT_RETRACTED, isNone ? '' : since(NOT_RETRACTED, bounds, ofChain))
  }
  return short
}

/** The condition with a look at those retractions alone that came after the bounds, if there is any bound. */
function since(
  condition: string,
  bounds: readonly number[],
  write: (bounds: readonly number[]) => string,
): string {
  if (bounds.every(bound => bound === 0)) return condition
  return condition.replace('retracted_by <=', `retracted_by > ${write(bounds)} AND retracted_by <=`)
}
