import { groupBy } from '../../db/group-by.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { inHundreds } from '../moment/chunks.ts'
import type { ChainMoment } from '../moment/snapshot.ts'
import type { Vault } from './vault.ts'

/** Vaults of one chain that one query asks about. */
export interface VaultBatch {
  vaults: readonly Vault[]
  chain: ChainMoment
  /** {chain} and {p} of the query, and the {vaults} it names. */
  pinned: { chain: number; p: number; vaults: string[] }
}

/** By chain, and no more at a time than fit one query. */
export function inBatches(
  vaults: readonly Vault[],
  { catalogue }: Pick<EndpointContext, 'catalogue'>,
): VaultBatch[] {
  return [...groupBy(vaults, ({ state }) => state.chainId)].flatMap(([chainId, all]) => {
    const chain = catalogue.chain(chainId)
    if (!chain) return []
    return inHundreds(all).map(part => ({
      vaults: part,
      chain,
      pinned: { chain: chainId, p: chain.position, vaults: part.map(({ state }) => state.address) },
    }))
  })
}
