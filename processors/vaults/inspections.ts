import type { BlockRef } from '../../db/events/event-store.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import type { DeadLetter } from '../handling/block.ts'
import type { Candidate } from '../handling/decode.ts'
import { UNREADABLE } from '../knowledge/known-contracts.ts'
import type { Protocol } from '../protocol.ts'
import type { ChainRpc } from '../source/rpc.ts'

/** As many as have a call under way where an endpoint takes sixteen at once. */
const AT_ONCE = 16
/** Looks under way, or done and not needed yet. */
const AHEAD = 64

export interface InspectionOptions {
  protocols: readonly Protocol[]
  /** Absent where nothing can be looked at. */
  rpc?: ChainRpc
}

interface Look {
  verdict: DomainEvent[]
  letters: DeadLetter[]
}

/**
 * Looks at contracts. Each is a chain of questions, and anybody can bring up many, block after block: those that are expected
 * are looked at side by side, each at the block in which its turn is, and what came of it waits there.
 */
export class Inspections {
  private readonly options: InspectionOptions
  private readonly expected = new Map<string, { block: number; look: Promise<Look> }>()

  constructor(options: InspectionOptions) {
    this.options = options
  }

  /** What was expected of other blocks is forgotten. */
  begin(): void {
    this.expected.clear()
  }

  /** Begins to look at what will have its turn at a block, as long as not too many are under way. */
  expect(candidates: readonly Candidate[], block: BlockRef): void {
    for (const candidate of candidates) {
      if (this.expected.size >= AHEAD) return
      const key = keyOf(candidate, block)
      if (this.expected.has(key)) continue
      const look = this.look(candidate, block)
      // What fails is told when it is its turn.
      look.catch(() => {})
      this.expected.set(key, { block: block.number, look })
    }
  }

  /** Verdicts in the order of the candidates. */
  async all(
    candidates: readonly Candidate[],
    block: BlockRef,
    letters: DeadLetter[],
  ): Promise<DomainEvent[][]> {
    const verdicts: DomainEvent[][] = []
    // What did not have its turn there has it somewhere else.
    for (const [key, { block: of }] of this.expected) if (of < block.number) this.expected.delete(key)
    for (let i = 0; i < candidates.length; i += AT_ONCE) {
      const looks = candidates.slice(i, i + AT_ONCE).map(candidate => this.take(candidate, block))
      for (const look of await Promise.all(looks)) {
        verdicts.push(look.verdict)
        letters.push(...look.letters)
      }
    }
    return verdicts
  }

  private take(candidate: Candidate, block: BlockRef): Promise<Look> {
    const key = keyOf(candidate, block)
    const { look } = this.expected.get(key) ?? { look: this.look(candidate, block) }
    this.expected.delete(key)
    return look
  }

  private async look(candidate: Candidate, block: BlockRef): Promise<Look> {
    const letters: DeadLetter[] = []
    return { verdict: await inspect(this.options, candidate, block, letters), letters }
  }
}

/** What its factory says of it counts, too. */
const keyOf = ({ contract, protocol, hint }: Candidate, { hash }: BlockRef) =>
  `${hash} ${protocol} ${contract} ${hint?.type === 'VaultCreated' ? hint.data.protocol : ''}`

async function inspect(
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
