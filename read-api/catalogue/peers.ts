import { type SharedPoints, sharedPoints } from './score.ts'
import type { Vault } from './vault.ts'

/** What a vault has before its peers were added up. */
export const NO_POINTS: SharedPoints = { protocol: 0, asset: 0, network: 0 }

/**
 * Points that vaults share: of their protocol, asset and network. Vaults that are corrupted or for which nobody vouches add nothing, and what a vault holds
 * in another one of the same protocol or network is counted there alone. Gives the vaults whose
 * points moved by a tenth or more, with the new ones.
 */
export function movedPoints(vaults: readonly (Vault | undefined)[]): Map<Vault, SharedPoints> {
  const protocols = new Map<string, number>()
  const assets = new Map<string, number>()
  const networks = new Map<number, number>()
  const add = <K>(sums: Map<K, number>, key: K, value: number) => sums.set(key, (sums.get(key) ?? 0) + value)
  for (const vault of vaults) {
    if (!vault || vault.isCorrupted || vault.standing === 'found') continue
    if (vault.usdSeconds !== undefined) {
      if (vault.inner?.protocol.name !== vault.protocol.name)
        add(protocols, vault.protocol.name, vault.usdSeconds)
      if (!vault.inner) add(networks, vault.state.chainId, vault.usdSeconds)
    }
    if (vault.tvlUsd !== undefined) add(assets, vault.asset.key, vault.tvlUsd)
  }
  const inPoints = <K>(sums: Map<K, number>, part: keyof SharedPoints) =>
    new Map([...sums].map(([key, sum]) => [key, sharedPoints(part, sum)]))
  const ofProtocol = inPoints(protocols, 'protocol')
  const ofAsset = inPoints(assets, 'asset')
  const ofNetwork = inPoints(networks, 'network')

  const moved = new Map<Vault, SharedPoints>()
  for (const vault of vaults) {
    if (!vault) continue
    const protocol = ofProtocol.get(vault.protocol.name) ?? 0
    const asset = ofAsset.get(vault.asset.key) ?? 0
    const network = ofNetwork.get(vault.state.chainId) ?? 0
    const { shared } = vault
    if (shared.protocol !== protocol || shared.asset !== asset || shared.network !== network)
      moved.set(vault, { protocol, asset, network })
  }
  return moved
}
