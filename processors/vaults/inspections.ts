import type { BlockRef } from '../../db/events/event-store.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import type { DeadLetter } from '../handling/block.ts'
import type { Candidate } from '../handling/decode.ts'
import { UNREADABLE } from '../knowledge/known-contracts.ts'
import type { Protocol } from '../protocol.ts'
import type { ChainRpc } from '../source/rpc.ts'

/** As many as have a call under way where an endpoint takes sixteen at once. */
const AT_ONCE = 16

export interface InspectionOptions {
  protocols: readonly Protocol[]
  /** Absent where nothing can be looked at. */
  rpc?: ChainRpc
}

/** Verdicts in the order of the candidates: each is a chain of questions, and anybody can bring up many in a block. */
export async function inspectAll(
  options: InspectionOptions,
  candidates: readonly Candidate[],
  block: BlockRef,
  letters: DeadLetter[],
): Promise<DomainEvent[][]> {
  const verdicts: DomainEvent[][] = []
  for (let i = 0; i < candidates.length; i += AT_ONCE) {
    const some = candidates.slice(i, i + AT_ONCE)
    verdicts.push(...(await Promise.all(some.map(candidate => inspect(options, candidate, block, letters)))))
  }
  return verdicts
}

export async function inspect(
  { protocols, rpc }: InspectionOptions,
  candidate: Candidate,
  block: BlockRef,
  letters: DeadLetter[],
): Promise<DomainEvent[]> {
  const protocol = protocols.find(({ name }) => name === candidate.protocol)
  if (!rpc || !protocol?.inspect) {
    const reason = 'no RPC endpoint to look at the contract: set RPC_<NETWORK>'
    letters.push({ stage: 'inspect', block, contract: candidate.contract, reason })
    return []
  }
  const reader = rpc.reader(block)
  const verdict = await protocol.inspect(candidate.contract, reader, candidate.hint)
  for (const [contract, reason] of reader.troubles)
    letters.push({ stage: 'inspect', block, contract, reason: `${UNREADABLE}: ${reason}` })
  const [trouble] = reader.troubles.values()
  if (trouble === undefined) return verdict
  // What it says of itself is not what made the verdict: another day it may be another.
  return verdict.map(event =>
    event.type === 'VaultRejected'
      ? { ...event, data: { ...event.data, reason: `${UNREADABLE}: ${trouble}` } }
      : event,
  )
}
