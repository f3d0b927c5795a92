/**
 * Which rows a reader at a moment sees: those that follow from events up to the chain's position, less the ones whose
 * block had been retracted by then. The one place where this is written; rows themselves never change.
 */

/** One chain, with {chain:UInt32} and {p:UInt64}. */
export const VISIBLE_ON_CHAIN = `chain_id = {chain:UInt32} AND position <= {p:UInt64}
  AND position NOT IN (SELECT position FROM retracted WHERE stream = toInt32({chain:UInt32}) AND retracted_by <= {p:UInt64})`

/** Several chains, with {as_of:Map(UInt32, UInt64)}; chains not in the map are not seen. */
export const VISIBLE = `chain_id IN mapKeys({as_of:Map(UInt32, UInt64)}) AND position <= {as_of:Map(UInt32, UInt64)}[chain_id]
  AND (chain_id, position) NOT IN (
    SELECT toUInt32(stream), position FROM retracted
    WHERE retracted_by <= {as_of:Map(UInt32, UInt64)}[toUInt32(stream)])`
