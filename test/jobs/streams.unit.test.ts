import { expect, test } from 'vitest'
import { samplesOf } from './naive.ts'
import { RandomChain } from './streams.ts'

test('in a random history a vault is found again as the contract that it was', () => {
  for (let seed = 1; seed <= 100; seed++) {
    const decimals = new Map<string, Set<number>>()
    for (const { entry, vault } of samplesOf(new RandomChain(seed).grow(110).canonical())) {
      if (entry.event.type !== 'StateSampled') continue
      decimals.set(vault, (decimals.get(vault) ?? new Set()).add(entry.event.data.assetDecimals))
    }
    for (const [vault, found] of decimals) expect([...found], `history ${seed}, ${vault}`).toHaveLength(1)
  }
})
