import { LRUCache } from 'lru-cache'
import type { ChainReader } from '../chain/reader.ts'
import type { View } from '../chain/view.ts'
import { aaveV3 } from '../protocols/aave-v3/deposit.ts'
import { compoundV3 } from '../protocols/compound-v3/deposit.ts'
import { erc4626 } from '../protocols/erc4626/deposit.ts'
import { erc7540 } from '../protocols/erc7540/deposit.ts'
import { eulerEvk } from '../protocols/euler-v2/deposit.ts'
import { metamorpho } from '../protocols/metamorpho/deposit.ts'
import { morphoVaultV2 } from '../protocols/morpho-vault-v2/deposit.ts'
import { stakedToken } from '../protocols/staked-token/deposit.ts'
import { stakedUsde } from '../protocols/staked-usde/deposit.ts'
import type { TransactionFamily, VaultRef, VaultTransactions } from './family.ts'

/** The special before the general; the last takes what is left. */
export const families: readonly TransactionFamily[] = [
  erc7540,
  stakedUsde,
  stakedToken,
  aaveV3,
  compoundV3,
  metamorpho,
  morphoVaultV2,
  eulerEvk,
  erc4626,
]

/** Finds the family of a vault by asking its contract, once; afterwards it is known. */
export function createFamilyFinder(reader: ChainReader, known: readonly TransactionFamily[] = families) {
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
