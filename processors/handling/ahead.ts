import type { BlockRef } from '../../db/events/event-store.ts'
import type { KnownContracts } from '../knowledge/known-contracts.ts'
import type { RawLog } from '../protocol.ts'
import type { SourceBlock } from './block.ts'
import type { Candidate, Decoder } from './decode.ts'

/** Blocks that are looked through ahead of the one that is handled. */
const BLOCKS = 16

/**
 * Says of a batch, as its blocks are handled in their order, which contracts come up for the first time in the next blocks:
 * as many of each block as may be looked at in it.
 */
export function openAhead(
  { contracts, decoder }: { contracts: KnownContracts; decoder: Decoder },
  numbers: readonly number[],
  queue: ReadonlyMap<number, SourceBlock>,
) {
  const seen = new Set<string>()
  let last = -1

  return (at: number, most = Number.POSITIVE_INFINITY): { candidates: Candidate[]; ref: BlockRef }[] => {
    const next = most > 0 ? numbers.slice(at, at + BLOCKS).filter(number => number > last) : []
    last = next.at(-1) ?? last
    return next.flatMap(number => {
      const { ref, logs = [] } = queue.get(number) ?? {}
      const isUnknown = ({ address }: RawLog) =>
        !contracts.isInspected(address) && !contracts.isIgnored(address)
      if (!ref || !logs.some(isUnknown)) return []
      const unknown = logs.filter(isUnknown)
      const candidates = decoder
        .decodeBlock(unknown, contracts)
        .candidates.filter(({ contract }) => !seen.has(contract) && !contracts.isIgnored(contract))
        .slice(0, most)
      for (const { contract } of candidates) seen.add(contract)
      return candidates.length > 0 ? [{ candidates, ref }] : []
    })
  }
}
