import { protocolName } from '../../db/protocols.ts'
import type { Shown } from '../catalogue/catalogue.ts'
import { type Unsupported, unknownOf, unsupportedNetworks } from '../catalogue/filter.ts'
import { shownAmong } from '../catalogue/lists.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { type Paging, pageOfAll } from '../http/paging.ts'
import { boolean, names, number } from '../http/parameters.ts'
import { lendingFamilies } from '../load-protocols.ts'
import { type LendingAsset, type LendingMarket, protocolOf } from './market.ts'
import { marketWire, tvlOf } from './wire.ts'

/** What a list of one network's markets can be narrowed by. */
export const marketFilter = {
  allowedCollateralAssets: names({
    description: 'Symbols, addresses or CAIP-19 identifiers: markets with any of these as collateral.',
  }),
  disallowedCollateralAssets: names({
    description: 'Ignored where allowedCollateralAssets is given.',
  }),
  allowedBorrowAssets: names({
    description: 'Symbols, addresses or CAIP-19 identifiers: markets that lend any of these.',
  }),
  disallowedBorrowAssets: names({ description: 'Ignored where allowedBorrowAssets is given.' }),
  minTvl: number().optional().openapi({ description: 'USD supplied.' }),
}

export const networkFilter = {
  allowedNetworks: names({ description: 'Names or CAIP-2 identifiers.' }),
  disallowedNetworks: names({ description: 'Ignored where allowedNetworks is given.' }),
}

export const protocolFilter = {
  allowedProtocols: names({ description: 'Broad protocol names or full protocol ids.' }),
  disallowedProtocols: names({ description: 'Ignored where allowedProtocols is given.' }),
}

type Lists = Partial<
  Record<keyof typeof marketFilter | keyof typeof protocolFilter, string[] | number | undefined>
>

const words = (names: unknown) =>
  Array.isArray(names) ? new Set(names.map(name => String(name).toLowerCase())) : undefined

/** Whether a name may pass a pair of lists; the disallowing one is ignored where the other is given. */
export function passes(
  names: readonly string[],
  allowed: ReadonlySet<string> | undefined,
  disallowed: ReadonlySet<string> | undefined,
): boolean {
  if (allowed) return names.some(name => allowed.has(name))
  return disallowed === undefined || !names.some(name => disallowed.has(name))
}

/** What a filter may call an asset, lower case: its symbol, address or CAIP-19 identifier. */
export const namesOf = ({ symbol, address, wire }: LendingAsset['info']) => [
  symbol.toLowerCase(),
  address,
  wire.assetCaip.toLowerCase(),
]

/** A market with every asset of a role disallowed is left out; one with others besides them stays. */
function passesRole(
  assets: readonly LendingAsset[],
  allowed: ReadonlySet<string> | undefined,
  disallowed: ReadonlySet<string> | undefined,
): boolean {
  if (allowed) return assets.some(({ info }) => namesOf(info).some(name => allowed.has(name)))
  if (disallowed === undefined || assets.length === 0) return true
  return assets.some(({ info }) => !namesOf(info).some(name => disallowed.has(name)))
}

function marketPredicate(query: Lists): (market: LendingMarket) => boolean {
  const collateral = [words(query.allowedCollateralAssets), words(query.disallowedCollateralAssets)] as const
  const borrow = [words(query.allowedBorrowAssets), words(query.disallowedBorrowAssets)] as const
  const protocols = [words(query.allowedProtocols), words(query.disallowedProtocols)] as const
  return market => {
    const { name, protocolId } = protocolOf(market)
    return (
      passes([name, protocolId], ...protocols) &&
      passesRole(
        market.assets.filter(({ isCollateralEnabled }) => isCollateralEnabled),
        ...collateral,
      ) &&
      passesRole(
        market.assets.filter(({ isBorrowEnabled }) => isBorrowEnabled),
        ...borrow,
      ) &&
      (typeof query.minTvl !== 'number' || tvlOf(market) >= query.minTvl)
    )
  }
}

/** Whether markets can be of a protocol of this name or id. */
const isLendingProtocol = (name: string) =>
  [...lendingFamilies.keys()].some(slug => [protocolName(slug), slug].includes(name.toLowerCase()))

/** Whether markets count for which nobody vouches. */
export const marketsUnlisted = boolean().optional().openapi({
  description:
    'Markets of standing found, too: anybody could have opened them, with tokens and an oracle of his own. Left out, and counted in x-unlisted-left-out, unless the installation shows them.',
})

type ShowsUnlisted = { shown: Pick<Shown, 'withUnlisted'> }
export const shownMarkets = (markets: readonly LendingMarket[], { shown }: ShowsUnlisted) =>
  shownAmong(markets, shown.withUnlisted).kept

/** A page of the markets that pass a list's filter, as the wire has it. */
export function marketsPage(
  markets: readonly LendingMarket[],
  query: Lists & Paging,
  context: Pick<EndpointContext, 'shown' | 'leaveOut'>,
) {
  const { kept, leftOut } = shownAmong(markets.filter(marketPredicate(query)), context.shown.withUnlisted)
  const page = pageOfAll(kept, query)
  context.leaveOut(leftOut.length, page.itemsOnPage === 0 && query.page === 0, 'market')
  return {
    ...page,
    data: page.data.map(marketWire),
    errors: unsupportedIn({ ...query }, context.shown, shownMarkets(markets, context)),
  }
}

/** Names in a filter that no market and no vault has, and networks that are not indexed here. */
export function unsupportedIn(
  query: Record<string, unknown>,
  shown: Shown,
  markets: readonly LendingMarket[],
): Unsupported {
  const known = new Set(markets.flatMap(({ assets }) => assets.flatMap(({ info }) => namesOf(info))))
  const named = (pattern: RegExp) =>
    Object.entries(query).flatMap(([name, value]) =>
      pattern.test(name) && Array.isArray(value) ? [value.map(String)] : [],
    )
  return {
    unsupportedNetworks: unsupportedNetworks(query, shown.catalogue),
    unsupportedAssets: unknownOf(
      named(/^(dis)?allowed\w*Assets$/),
      name => known.has(name.toLowerCase()) || shown.knowsAsset(name),
    ),
    unsupportedProtocols: unknownOf(named(/^(dis)?allowedProtocols$/), isLendingProtocol),
  }
}
