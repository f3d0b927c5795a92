import type { NetworkId } from '../../db/networks.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { NotFoundError } from '../http/errors.ts'
import { network, vaultId } from '../http/parameters.ts'
import { z } from '../http/zod.ts'
import type { ChainMoment } from '../moment/snapshot.ts'
import type { Catalogue } from './catalogue.ts'
import type { Vault } from './vault.ts'

/** The path of everything that is about one vault. */
export const vaultParams = z.object({ network: network(), vaultId: vaultId() })

export interface FoundVault {
  vault: Vault
  chain: ChainMoment
  /** {chain}, {p} and {vault} of queries about it. */
  pinned: { chain: number; p: number; vault: string }
}

/** The vault that a path names, and the moment its chain is at. */
export function findVault(
  params: { network: NetworkId; vaultId: string },
  { catalogue, touch }: Pick<EndpointContext, 'catalogue' | 'touch'>,
): FoundVault {
  const { chainId } = params.network
  const vault = catalogue.find(chainId, params.vaultId)
  const found = vault && pinVault(vault, { catalogue })
  if (!found) throw unknownVault(catalogue, params)
  touch(chainId)
  return found
}

/** A vault of the catalogue with the moment its chain is at. */
export function pinVault(
  vault: Vault,
  { catalogue }: Pick<EndpointContext, 'catalogue'>,
): FoundVault | undefined {
  const { chainId, address } = vault.state
  const chain = catalogue.chain(chainId)
  return chain && { vault, chain, pinned: { chain: chainId, p: chain.position, vault: address } }
}

export function unknownVault(
  catalogue: Catalogue,
  params: { network: NetworkId; vaultId: string },
): NotFoundError {
  const elsewhere = [...catalogue.moment.chains.keys()]
    .map(chainId => catalogue.find(chainId, params.vaultId))
    .find(vault => vault !== undefined)
  return new NotFoundError(
    `There is no vault ${params.vaultId} on ${params.network.name}.${elsewhere ? ` There is one on ${elsewhere.network.name}.` : ''}`,
  )
}
