import type { DomainEvent } from '../../db/events/vocabulary.ts'
import type { Positioned } from './streams.ts'

export const hex = (kind: string, n: number, digits = 40) =>
  `0x${(Buffer.from(kind).toString('hex') + n.toString(16).padStart(8, '0')).padEnd(digits, '0').slice(0, digits)}`

export const ZERO = '0x0000000000000000000000000000000000000000'

/** By the rules of the vocabulary, written a second time: whose shares an event moves. */
export function movementOf(event: DomainEvent): [holder: string, delta: bigint][] {
  const moves: [string, bigint][] = []
  if (event.type === 'ShareTransferred') {
    if (event.data.from !== event.data.to)
      moves.push([event.data.from, -event.data.shares], [event.data.to, event.data.shares])
  } else if (event.type === 'Deposited' && event.data.ledger === 'self')
    moves.push([event.data.owner, event.data.shares])
  else if (event.type === 'Redeemed' && event.data.ledger === 'self')
    moves.push([event.data.owner, -event.data.shares])
  return moves.filter(([holder, delta]) => holder !== ZERO && delta !== 0n)
}
/** The canonical events alone, at positions of their own. */
export function renumbered(events: readonly Positioned[]): Positioned[] {
  return events.map((entry, i) => ({ ...entry, position: i + 1 }))
}
