import { LRUCache } from 'lru-cache'
import type { ChainReader } from '../chain/reader.ts'
import type { View } from '../chain/view.ts'
import { vaultFamilies } from '../load-protocols.ts'
import type { TransactionFamily, VaultRef, VaultTransactions } from './family.ts'

/** Finds the family of a vault by asking its contract, once; afterwards it is known. */
export function createFamilyFinder(reader: ChainReader, known: readonly TransactionFamily[] = vaultFamilies) {
  const found = new LRUCache<string, Promise<VaultTransactions | undefined>>({ max: 20_000, ttl: 3_600_000 })

  const find = async (vault: VaultRef): Promise<VaultTransactions | undefined> => {
    const views: Record<string, View<unknown>> = {}
    for (const family of known) {
      for (const [name, probe] of Object.entries(family.probes(vault)))
        views[`${family.name} ${name}`] = probe
    }
    const { values } = await reader.read(vault.network, views)
    for (const family of known) {
      const own = Object.fromEntries(
        Object.keys(family.probes(vault)).map(name => [name, values[`${family.name} ${name}`]]),
      )
      const bound = family.bind(vault, own)
      if (bound) return bound
    }
    return undefined
  }

  return (vault: VaultRef): Promise<VaultTransactions | undefined> => {
    const key = `${vault.chainId}:${vault.address}`
    const known = found.get(key)
    if (known) return known
    const asked = find(vault)
    found.set(key, asked)
    // A chain that did not answer says nothing about the vault.
    asked.catch(() => found.delete(key))
    return asked
  }
}
