import type { BlockEvents, BlockRef } from '../../db/events/event-store.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'

/** Events of vaults after which their state is worth a sample. */
export const ACTIVITY = new Set<DomainEvent['type']>([
  'Deposited',
  'Redeemed',
  'ShareTransferred',
  'FeeChanged',
  'RequestClaimed',
  'RewardAdded',
  // Of a lending market that is itself a vault.
  'Supplied',
  'Withdrawn',
  'BaseTransferred',
])

/** Blocks in which something else than the hour has a vault sampled, ascending. */
export function activityOf(output: readonly BlockEvents[]): Map<string, BlockRef[]> {
  const active = new Map<string, BlockRef[]>()
  for (const { block, events } of [...output].sort((a, b) => a.block.number - b.block.number)) {
    for (const event of events) {
      const isDiscovery = event.type === 'VaultDiscovered'
      if (!isDiscovery && !ACTIVITY.has(event.type)) continue
      const vault = isDiscovery ? event.data.vault : event.contract
      const blocks = active.get(vault)
      if (!blocks) active.set(vault, [block])
      else if (blocks.at(-1) !== block) blocks.push(block)
    }
  }
  return active
}

/** Accounts that got collateral in a contract by these events. */
export function collateralHolders(contract: string, output: readonly BlockEvents[]): string[] {
  return output
    .flatMap(({ events }) => events.filter(event => event.contract === contract))
    .flatMap(event => {
      if (event.type === 'CollateralSupplied') return [event.data.onBehalf]
      return event.type === 'CollateralTransferred' ? [event.data.to] : []
    })
}
