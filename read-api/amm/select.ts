import type { Shown } from '../catalogue/catalogue.ts'
import { assetNames, type Unsupported, unknownOf, unsupportedNetworks } from '../catalogue/filter.ts'
import { boolean, choice, names } from '../http/parameters.ts'
import { compareFigures } from '../portfolio/select-positions.ts'
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
  sortBy: choice(SORT_KEYS)
    .optional()
    .openapi({
      type: 'string',
      enum: [...SORT_KEYS],
      default: 'tvl',
      description: 'What the list is sorted by; what is not known comes last.',
    }),
  allowUnlisted: boolean().optional().openapi({
    description:
      'Vaults of standing found, too: anybody could have had them made, of any two tokens. Left out, and counted in x-unlisted-left-out, unless the installation shows them.',
  }),
}

export interface AmmFilter {
  allowedNetworks?: string[] | undefined
  disallowedNetworks?: string[] | undefined
  allowedAssets?: string[] | undefined
  disallowedAssets?: string[] | undefined
}

/** Vaults that pass; `leftOut`: how many would but for their standing. */
export function narrowed(vaults: readonly AmmVault[], query: AmmFilter, shown: Shown) {
  const named = namesOf(shown, vaults)
  const inAssets = query.allowedAssets && assetNames(query.allowedAssets, named)
  const notAssets = query.disallowedAssets && assetNames(query.disallowedAssets, named)
  const passing = vaults.filter(({ tokens }) =>
    inAssets ? tokens.some(inAssets) : !notAssets || !tokens.some(notAssets),
  )
  const kept = passing.filter(({ standing }) => shown.withUnlisted || standing !== 'found')
  return { kept, leftOut: passing.length - kept.length }
}

const vouchedFor = (vaults: readonly AmmVault[]) => vaults.filter(({ standing }) => standing !== 'found')

/** A symbol names the assets of vaults of liquidity that are vouched for as well as those of others. */
function namesOf(shown: Shown, vaults: readonly AmmVault[]): Pick<Shown, 'isNamed'> {
  const own = new Set(vouchedFor(vaults).flatMap(({ tokens }) => tokens.map(({ key }) => key)))
  return { isNamed: asset => shown.isNamed(asset) || own.has(asset.key) }
}

function figureOf(vault: AmmVault, key: SortKey): number | undefined {
  if (key === 'tvl') return usdOfVault(vault)
  return key === 'apr7day' ? vault.apr.week : vault.apr.month
}

/** Those whose figure is not known come last in either order; equals by chain and address. */
export function sorted(vaults: readonly AmmVault[], key: SortKey, order: 'asc' | 'desc'): AmmVault[] {
  const keyed = vaults.map(vault => ({ vault, figure: figureOf(vault, key) }))
  return keyed
    .sort((a, b) => compareFigures(a.figure, b.figure, order) || byIdentity(a.vault, b.vault))
    .map(({ vault }) => vault)
}

const byIdentity = (a: AmmVault, b: AmmVault) =>
  a.chainId - b.chainId || (a.address < b.address ? -1 : a.address > b.address ? 1 : 0)

/** Names in a filter that nobody knows. */
export function unsupportedIn(query: AmmFilter, shown: Shown, vaults: readonly AmmVault[]): Unsupported {
  const visible = shown.withUnlisted ? vaults : vouchedFor(vaults)
  const own = new Set(visible.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol.toLowerCase())))
  const { allowedNetworks, disallowedNetworks } = query
  return {
    unsupportedNetworks: unsupportedNetworks(
      { ...(allowedNetworks && { allowedNetworks }), ...(disallowedNetworks && { disallowedNetworks }) },
      shown.catalogue,
    ),
    unsupportedAssets: unknownOf(
      [query.allowedAssets, query.disallowedAssets],
      name => own.has(name.toLowerCase()) || shown.knowsAsset(name),
    ),
    unsupportedProtocols: [],
  }
}
