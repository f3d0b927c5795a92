import { findNetwork } from '../../db/networks.ts'
import type { Catalogue } from './catalogue.ts'
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
  errors: Unsupported
}

/** Makes a predicate of a filter. A bound on a figure is passed only by vaults of which the figure is known. */
export function compileFilter(filter: VaultFilter, catalogue: Catalogue): CompiledFilter {
  const networks = (names: string[] | undefined) =>
    names && new Set(names.map(name => findNetwork(name)?.chainId))
  const words = (names: string[] | undefined) => names && new Set(names.map(name => name.toLowerCase()))

  const inNetworks = networks(filter.allowedNetworks)
  const notNetworks = inNetworks ? undefined : networks(filter.disallowedNetworks)
  const inAssets = words(filter.allowedAssets)
  const notAssets = inAssets ? undefined : words(filter.disallowedAssets)
  const inProtocols = words(filter.allowedProtocols)
  const notProtocols = inProtocols ? undefined : words(filter.disallowedProtocols)
  const tags = words(filter.tags)
  const curators = words(filter.curators)
  const { minTvl, maxTvl, minApy, maxApy, minVaultScore } = filter

  const isOf = (protocols: Set<string>, { name, protocolId }: Vault['protocol']) =>
    protocols.has(name.toLowerCase()) || (protocolId !== undefined && protocols.has(protocolId.toLowerCase()))

  const matches = (vault: Vault, figures?: Figures): boolean => {
    if (vault.isCorrupted && !filter.allowCorrupted) return false
    if (inNetworks && !inNetworks.has(vault.state.chainId)) return false
    if (notNetworks?.has(vault.state.chainId)) return false
    if (inAssets && !inAssets.has(vault.asset.symbol.toLowerCase())) return false
    if (notAssets?.has(vault.asset.symbol.toLowerCase())) return false
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
  return { matches, errors: unsupportedNames(filter, catalogue) }
}

function within(value: number | undefined, min: number | undefined, max: number | undefined): boolean {
  if (min === undefined && max === undefined) return true
  if (value === undefined) return false
  return (min === undefined || value >= min) && (max === undefined || value <= max)
}

/** Networks that a filter asks for and of which nothing is indexed here: what a wallet has there is not known. */
export function unservedNetworks(
  { allowedNetworks = [] }: Pick<VaultFilter, 'allowedNetworks'>,
  catalogue: Catalogue,
): string[] {
  const asked = allowedNetworks.flatMap(name => findNetwork(name) ?? [])
  return [...new Set(asked)].filter(({ chainId }) => !catalogue.chain(chainId)).map(({ name }) => name)
}

/** Names in a filter that nobody knows. */
export function unsupportedNames(filter: VaultFilter, catalogue: Catalogue): Unsupported {
  const unknown = (names: (string[] | undefined)[], isKnown: (name: string) => boolean) => [
    ...new Set(names.flatMap(given => given ?? []).filter(name => !isKnown(name))),
  ]
  return {
    unsupportedNetworks: unknown(
      [filter.allowedNetworks, filter.disallowedNetworks],
      name => findNetwork(name) !== undefined,
    ),
    unsupportedAssets: unknown([filter.allowedAssets, filter.disallowedAssets], name =>
      catalogue.symbols().has(name.toLowerCase()),
    ),
    unsupportedProtocols: unknown([filter.allowedProtocols, filter.disallowedProtocols], name =>
      catalogue.protocolNames().has(name.toLowerCase()),
    ),
  }
}
