import type { Shown } from '../catalogue/catalogue.ts'
import type { NetworkFilter } from '../catalogue/filter.ts'
import { sortBy } from '../catalogue/filter-schema.ts'
import { type AssetFilter, assetFilter, byFigure, shownAmong, unsupportedNames } from '../catalogue/lists.ts'
import { boolean, names } from '../http/parameters.ts'
import { type AmmVault, usdOfVault } from './vault.ts'

const SORT_KEYS = ['tvl', 'apr7day', 'apr30day'] as const
type SortKey = (typeof SORT_KEYS)[number]

/** What the list can be narrowed by. Nothing is narrowed that was not asked, but what nobody vouches for. */
export const ammFilter = {
  allowedNetworks: names({ description: 'Names or CAIP-2 identifiers.', example: ['base'] }),
  disallowedNetworks: names({ description: 'Ignored where allowedNetworks is given.' }),
  allowedAssets: names({
    description: 'Symbols, addresses or CAIP-19 identifiers of either asset, in any case.',
    example: ['USDC'],
  }),
  disallowedAssets: names({ description: 'Ignored where allowedAssets is given.' }),
  sortBy: sortBy(SORT_KEYS),
  allowUnlisted: boolean().optional().openapi({
    description:
      'Vaults of standing found, too: anybody could have had them made, of any two tokens. Left out, and counted in x-unlisted-left-out, unless the installation shows them.',
  }),
}

export type AmmFilter = AssetFilter & NetworkFilter

const tokensOf = ({ tokens }: AmmVault) => tokens

/** Vaults that pass, and those that would but for their standing. */
export function narrowed(vaults: readonly AmmVault[], query: AmmFilter, shown: Shown) {
  return shownAmong(vaults.filter(assetFilter(query, vaults, tokensOf, shown)), shown.withUnlisted)
}

function figureOf(vault: AmmVault, key: SortKey): number | undefined {
  if (key === 'tvl') return usdOfVault(vault)
  return key === 'apr7day' ? vault.apr.week : vault.apr.month
}

export const sorted = (vaults: readonly AmmVault[], key: SortKey, order: 'asc' | 'desc') =>
  byFigure(vaults, vault => figureOf(vault, key), order)

/** Names in a filter that nobody knows. */
export const unsupportedIn = (query: AmmFilter, shown: Shown, vaults: readonly AmmVault[]) =>
  unsupportedNames(query, vaults, tokensOf, shown)
