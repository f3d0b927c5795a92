import { readAttribution } from '../../db/attribution.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import type { TransactionCall } from '../source/rpc.ts'

type Attributable = DomainEvent<'Deposited'> | DomainEvent<'Redeemed'> | DomainEvent<'RewardClaimed'>

const isAttributable = (event: DomainEvent): event is Attributable =>
  event.type === 'Deposited' || event.type === 'Redeemed' || event.type === 'RewardClaimed'

/** Hashes of the transactions among a block's events whose suffix matters. */
export function toAttribute(events: readonly DomainEvent[]): string[] {
  const hashes = new Set<string>()
  for (const event of events)
    if (isAttributable(event) && event.transactionHash) hashes.add(event.transactionHash)
  return [...hashes]
}

/**
 * Puts the codes of a transaction's suffix on what it was made for: what the contract that it calls itself logged; of
 * a call by way of others (a smart account, a pool, a bundler) whatever was not done by a vault that acts in it too,
 * so that a deposit which the vault passes on to another counts once. Pure: events that
 * change are new ones, in the same order.
 */
export function attribute(
  events: readonly DomainEvent[],
  transactionHash: string,
  { to, input }: TransactionCall,
): readonly DomainEvent[] {
  const codes = readAttribution(input)?.codes
  if (!codes) return events
  const own = events.filter(
    (event): event is Attributable => isAttributable(event) && event.transactionHash === transactionHash,
  )
  const called = new Set<DomainEvent>(own.filter(({ contract }) => contract === to?.toLowerCase()))
  const acting = new Set(own.map(({ contract }) => contract))
  const outer = new Set<DomainEvent>(
    own.filter(({ data }) => !acting.has('owner' in data ? data.owner : data.account)),
  )
  const meant = called.size > 0 ? called : outer
  return events.map(event =>
    meant.has(event) ? ({ ...event, data: { ...event.data, codes } } as DomainEvent) : event,
  )
}
