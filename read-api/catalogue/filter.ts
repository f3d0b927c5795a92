import type { Face } from '../../db/faces.ts'
import { findNetwork } from '../../db/networks.ts'
import type { AssetInfo } from './assets.ts'
import type { Catalogue, Shown } from './catalogue.ts'
import type { Vault } from './vault.ts'

export interface VaultFilter {
  allowedNetworks?: string[]
  disallowedNetworks?: string[]
  allowedAssets?: string[]
  disallowedAssets?: string[]
  allowedProtocols?: string[]
  disallowedProtocols?: string[]
  minTvl?: number
  maxTvl?: number
  minApy?: number
  maxApy?: number
  minVaultScore?: number
  tags?: string[]
  curators?: string[]
  onlyTransactional?: boolean
  onlyAppFeatured?: boolean
  allowCorrupted?: boolean
  allowUnlisted?: boolean
  allowVaultsWithWarnings?: boolean
}

export interface Unsupported {
  unsupportedNetworks: string[]
  unsupportedAssets: string[]
  unsupportedProtocols: string[]
}

/** The figures a vault is judged by: today's, or those of another moment. */
export interface Figures {
  tvlUsd: number | undefined
  apy: number | undefined
}

export interface CompiledFilter {
  matches(vault: Vault, figures?: Figures): boolean
  /** Whether it passes but for its standing. */
  isLeftOut(vault: Vault, figures?: Figures): boolean
  errors: Unsupported
}

/** Which assets a list of symbols, addresses and CAIP-19 identifiers names. A symbol names only assets that are known by it. */
export function assetNames(
  names: readonly string[],
  shown: Pick<Shown, 'isNamed'>,
): (asset: AssetInfo) => boolean {
  const words = new Set(names.map(name => name.toLowerCase()))
  return asset =>
    words.has(asset.address) ||
    words.has(asset.wire.assetCaip.toLowerCase()) ||
    (words.has(asset.symbol.toLowerCase()) && shown.isNamed(asset))
}

export interface NetworkFilter {
  allowedNetworks?: readonly string[] | undefined
  /** Ignored where allowedNetworks is given. */
  disallowedNetworks?: readonly string[] | undefined
}

/** Whether a chain passes, by its id. */
export function networkFilter({
  allowedNetworks,
  disallowedNetworks,
}: NetworkFilter): (chainId: number) => boolean {
  const ids = (names: readonly string[] | undefined) =>
    names && new Set(names.map(name => findNetwork(name)?.chainId))
  const allowed = ids(allowedNetworks)
  const disallowed = ids(disallowedNetworks)
  return chainId => (allowed ? allowed.has(chainId) : !disallowed?.has(chainId))
}

/** Chains that pass and have something of a face, ascending. */
export function chainsOf(catalogue: Catalogue, face: Face, filter: NetworkFilter): number[] {
  return [...catalogue.moment.chains.keys()]
    .filter(chainId => catalogue.chain(chainId, face) !== undefined)
    .filter(networkFilter(filter))
    .sort((a, b) => a - b)
}

/** Makes a predicate of a filter. A bound on a figure is passed only by vaults of which the figure is known. */
export function compileFilter(filter: VaultFilter, shown: Shown): CompiledFilter {
  const words = (names: string[] | undefined) => names && new Set(names.map(name => name.toLowerCase()))

  const inNetworks = networkFilter(filter)
  const assets = (names: string[] | undefined) => names && assetNames(names, shown)
  const inAssets = assets(filter.allowedAssets)
  const notAssets = inAssets ? undefined : assets(filter.disallowedAssets)
  const inProtocols = words(filter.allowedProtocols)
  const notProtocols = inProtocols ? undefined : words(filter.disallowedProtocols)
  const tags = words(filter.tags)
  const curators = words(filter.curators)
  const { minTvl, maxTvl, minApy, maxApy, minVaultScore } = filter

  const isOf = (protocols: Set<string>, { name, protocolId }: Vault['protocol']) =>
    protocols.has(name.toLowerCase()) || (protocolId !== undefined && protocols.has(protocolId.toLowerCase()))

  const passes = (vault: Vault, figures?: Figures): boolean => {
    if (vault.isCorrupted && !filter.allowCorrupted) return false
    if (!inNetworks(vault.state.chainId)) return false
    if (inAssets && !inAssets(vault.asset)) return false
    if (notAssets?.(vault.asset)) return false
    if (inProtocols && !isOf(inProtocols, vault.protocol)) return false
    if (notProtocols && isOf(notProtocols, vault.protocol)) return false
    if (filter.onlyTransactional && !vault.isTransactional) return false
    if (filter.onlyAppFeatured && !vault.isAppFeatured) return false
    if (filter.allowVaultsWithWarnings === false && vault.hasWarnings) return false
    if (tags && !vault.facts.tags?.some(tag => tags.has(tag.toLowerCase()))) return false
    if (curators && !(vault.curator && curators.has(vault.curator.name.toLowerCase()))) return false
    const tvl = figures ? figures.tvlUsd : vault.tvlUsd
    const apy = figures ? figures.apy : vault.totalApy('7day')
    return (
      within(tvl, minTvl, maxTvl) &&
      within(apy, minApy, maxApy) &&
      within(vault.score, minVaultScore, undefined)
    )
  }
  return {
    matches: (vault, figures) => shown.has(vault) && passes(vault, figures),
    isLeftOut: (vault, figures) => !shown.has(vault) && passes(vault, figures),
    errors: unsupportedNames(filter, shown),
  }
}

/** An unknown figure passes no bound. */
export function within(value: number | undefined, min: number | undefined, max: number | undefined): boolean {
  if (min === undefined && max === undefined) return true
  if (value === undefined) return false
  return (min === undefined || value >= min) && (max === undefined || value <= max)
}

/** Those of the names, each once, that are not known. */
export function unknownOf(
  names: readonly (readonly string[] | undefined)[],
  isKnown: (name: string) => boolean,
): string[] {
  return [...new Set(names.flatMap(given => given ?? []).filter(name => !isKnown(name)))]
}

/** Networks in a filter that are none, and those asked for of which nothing is indexed here: no answer speaks of them. */
export function unsupportedNetworks(filter: NetworkFilter, catalogue: Catalogue): string[] {
  const isServed = (name: string) => {
    const network = findNetwork(name)
    return network !== undefined && catalogue.chain(network.chainId) !== undefined
  }
  return [
    ...new Set([
      ...unknownOf([filter.allowedNetworks], isServed),
      ...unknownOf([filter.disallowedNetworks], name => findNetwork(name) !== undefined),
    ]),
  ]
}

/** Names in a filter that nobody knows. */
export function unsupportedNames(filter: VaultFilter, shown: Shown): Unsupported {
  return {
    unsupportedNetworks: unsupportedNetworks(filter, shown.catalogue),
    unsupportedAssets: unknownOf([filter.allowedAssets, filter.disallowedAssets], name =>
      shown.knowsAsset(name),
    ),
    unsupportedProtocols: unknownOf([filter.allowedProtocols, filter.disallowedProtocols], name =>
      shown.protocolNames().has(name.toLowerCase()),
    ),
  }
}
