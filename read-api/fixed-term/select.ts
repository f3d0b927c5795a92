import type { Shown } from '../catalogue/catalogue.ts'
import { type NetworkFilter, within } from '../catalogue/filter.ts'
import { sortBy } from '../catalogue/filter-schema.ts'
import { type AssetFilter, assetFilter, byFigure, shownAmong, unsupportedNames } from '../catalogue/lists.ts'
import { boolean, integer, names, number } from '../http/parameters.ts'
import { type FixedTermMarket, usdOfMarket } from './market.ts'

export const SORT_KEYS = ['tvl', 'apy', 'liquidity', 'expiry'] as const
type SortKey = (typeof SORT_KEYS)[number]

const UNKNOWN = 'Markets of which it is not known do not pass.'
const expiry = () => integer({ min: 0, max: 4_294_967_295, what: 'unix time in seconds' })

/** What the list can be narrowed by. Nothing is narrowed that was not asked, but what has ended and what nobody vouches for. */
export const fixedTermFilter = {
  allowedNetworks: names({ description: 'Names or CAIP-2 identifiers.', example: ['mainnet'] }),
  disallowedNetworks: names({ description: 'Ignored where allowedNetworks is given.' }),
  allowedAssets: names({
    description: 'Symbols, addresses or CAIP-19 identifiers of what the markets are in, in any case.',
    example: ['USDC'],
  }),
  disallowedAssets: names({ description: 'Ignored where allowedAssets is given.' }),
  minTvl: number()
    .optional()
    .openapi({ description: `USD. ${UNKNOWN}` }),
  maxTvl: number()
    .optional()
    .openapi({ description: `USD. ${UNKNOWN}` }),
  minApy: number()
    .optional()
    .openapi({ description: `Fraction. ${UNKNOWN}`, example: 0.02 }),
  maxApy: number()
    .optional()
    .openapi({ description: `Fraction. ${UNKNOWN}`, example: 0.5 }),
  minLiquidity: number()
    .optional()
    .openapi({ description: `USD. ${UNKNOWN}` }),
  minExpiry: expiry().optional().openapi({ description: 'Unix seconds.' }),
  maxExpiry: expiry().optional().openapi({ description: 'Unix seconds.' }),
  sortBy: sortBy(SORT_KEYS),
  allowUnlisted: boolean().optional().openapi({
    description:
      'Markets of standing found, too: anybody could have made them, around a token of his own. Left out, and counted in x-unlisted-left-out, unless the installation shows them.',
  }),
}

export interface FixedTermFilter extends AssetFilter, NetworkFilter {
  minTvl?: number | undefined
  maxTvl?: number | undefined
  minApy?: number | undefined
  maxApy?: number | undefined
  minLiquidity?: number | undefined
  minExpiry?: number | undefined
  maxExpiry?: number | undefined
}

const assetsOf = ({ info }: FixedTermMarket) => [info]

/** Markets that run and pass, and those that would but for their standing. */
export function narrowed(markets: readonly FixedTermMarket[], query: FixedTermFilter, shown: Shown) {
  const isIn = assetFilter(query, markets, assetsOf, shown)
  const passing = markets.filter(
    market =>
      !market.hasEnded &&
      isIn(market) &&
      within(usdOfMarket(market, market.tvl), query.minTvl, query.maxTvl) &&
      within(usdOfMarket(market, market.liquidity), query.minLiquidity, undefined) &&
      within(market.apy, query.minApy, query.maxApy) &&
      within(market.expiry, query.minExpiry, query.maxExpiry),
  )
  return shownAmong(passing, shown.withUnlisted)
}

function figureOf(market: FixedTermMarket, key: SortKey): number | undefined {
  switch (key) {
    case 'apy':
    case 'expiry':
      return market[key]
    default:
      return usdOfMarket(market, market[key])
  }
}

export const sorted = (markets: readonly FixedTermMarket[], key: SortKey, order: 'asc' | 'desc') =>
  byFigure(markets, market => figureOf(market, key), order)

/** Names in a filter that nobody knows. */
export const unsupportedIn = (query: FixedTermFilter, shown: Shown, markets: readonly FixedTermMarket[]) =>
  unsupportedNames(query, markets, assetsOf, shown)
