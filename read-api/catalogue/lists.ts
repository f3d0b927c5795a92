import type { AssetInfo } from './assets.ts'
import type { Shown } from './catalogue.ts'
import { assetNames, type NetworkFilter, type Unsupported, unknownOf, unsupportedNetworks } from './filter.ts'
import { compareFigures } from './orders.ts'
import { isVouchedFor, type Vouchable } from './vault-state.ts'

/** What lists of anything but vaults of the catalogue have in common: of markets, of vaults of liquidity, of vaults on Solana. */

/** Those that are shown, and those that are left out for their standing. */
export function shownAmong<T extends Vouchable>(passing: readonly T[], withUnlisted: boolean) {
  const isShown = (one: T) => withUnlisted || isVouchedFor(one)
  return { kept: passing.filter(isShown), leftOut: passing.filter(one => !isShown(one)) }
}

/** Those whose figure is not known come last in either order; equals by chain and address. */
export function byFigure<T extends { readonly chainId?: number; readonly address: string }>(
  items: readonly T[],
  figureOf: (item: T) => number | undefined,
  order: 'asc' | 'desc',
): T[] {
  const byIdentity = (a: T, b: T) =>
    (a.chainId ?? 0) - (b.chainId ?? 0) || (a.address < b.address ? -1 : a.address > b.address ? 1 : 0)
  return items
    .map(item => ({ item, figure: figureOf(item) }))
    .sort((a, b) => compareFigures(a.figure, b.figure, order) || byIdentity(a.item, b.item))
    .map(({ item }) => item)
}

export interface AssetFilter {
  allowedAssets?: string[] | undefined
  /** Ignored where allowedAssets is given. */
  disallowedAssets?: string[] | undefined
}

/**
 * Whether a thing of these assets passes: by one of them, or by all. A symbol names the assets of what is vouched for in the list as
 * well as those of vaults.
 */
export function assetFilter<T extends Vouchable>(
  { allowedAssets, disallowedAssets }: AssetFilter,
  list: readonly T[],
  assetsOf: (item: T) => readonly AssetInfo[],
  shown: Shown,
): (item: T) => boolean {
  const own = new Set(list.filter(isVouchedFor).flatMap(item => assetsOf(item).map(({ key }) => key)))
  const named = { isNamed: (asset: AssetInfo) => shown.isNamed(asset) || own.has(asset.key) }
  const isIn = allowedAssets && assetNames(allowedAssets, named)
  const isNot = disallowedAssets && assetNames(disallowedAssets, named)
  return item => (isIn ? assetsOf(item).some(isIn) : !isNot || !assetsOf(item).some(isNot))
}

/** Names in a filter that nobody knows. */
export function unsupportedNames<T extends Vouchable>(
  query: AssetFilter & NetworkFilter,
  list: readonly T[],
  assetsOf: (item: T) => readonly AssetInfo[],
  shown: Shown,
): Unsupported {
  const { kept } = shownAmong(list, shown.withUnlisted)
  const own = new Set(kept.flatMap(item => assetsOf(item).map(({ symbol }) => symbol.toLowerCase())))
  return {
    unsupportedNetworks: unsupportedNetworks(query, shown.catalogue),
    unsupportedAssets: unknownOf(
      [query.allowedAssets, query.disallowedAssets],
      name => own.has(name.toLowerCase()) || shown.knowsAsset(name),
    ),
    unsupportedProtocols: [],
  }
}
