import { type NetworkName, networks } from '../db/networks.ts'

/** Names of networks for so many processes at most: those with the most blocks each in another one. */
export function dealt(names: readonly NetworkName[], processes: number): NetworkName[][] {
  const groups: NetworkName[][] = []
  const byBlocks = [...names].sort((a, b) => networks[a].blockTime - networks[b].blockTime)
  for (const [i, name] of byBlocks.entries()) groups[i % processes] = [...(groups[i % processes] ?? []), name]
  return groups
}
