import type { ClickHouseClient } from '@clickhouse/client'

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

/** Up to where a chain's stream has no retraction. Streams are only ever added to: once true it stays true. */
const straight = new WeakMap<ClickHouseClient, Map<number, number>>()

/** Notes whether positions (from, to] of a chain have a retraction among them; `from` 0 begins anew. */
export function noteRetractions(
  clickhouse: ClickHouseClient,
  chain: number,
  { from, to, found }: { from: number; to: number; found: boolean },
): void {
  const known = straight.get(clickhouse) ?? new Map<number, number>()
  straight.set(clickhouse, known)
  if (from === 0) known.delete(chain)
  const end = known.get(chain) ?? 0
  if (!found && from <= end) known.set(chain, Math.max(end, to))
}

/** The same question without a look at `retracted`, a fifth of its cost, where all that it sees lies before any retraction. */
export function withoutRetractions(
  sql: string,
  { chain, p, as_of }: Record<string, unknown>,
  clickhouse: ClickHouseClient,
): string {
  const isStraight = (id: number, position: number) => position <= (straight.get(clickhouse)?.get(id) ?? -1)
  let short = sql
  if (typeof chain === 'number' && typeof p === 'number' && isStraight(chain, p))
    short = short.replaceAll(NOT_RETRACTED_ON_CHAIN, '')
  if (as_of instanceof Map && [...as_of].every(([id, position]) => isStraight(Number(id), Number(position))))
    short = short.replaceAll(NOT_RETRACTED, '')
  return short
}
