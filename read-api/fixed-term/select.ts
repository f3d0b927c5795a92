import type { Shown } from '../catalogue/catalogue.ts'
import { assetNames, type Unsupported, unknownOf, unsupportedNetworks, within } from '../catalogue/filter.ts'
import { boolean, choice, integer, names, number } from '../http/parameters.ts'
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
      'Markets of standing found, too: anybody could have made them, around a token of his own. Left out, and counted in x-unlisted-left-out, unless the installation shows them.',
  }),
}

export interface FixedTermFilter {
  allowedNetworks?: string[] | undefined
  disallowedNetworks?: string[] | undefined
  allowedAssets?: string[] | undefined
  disallowedAssets?: string[] | undefined
  minTvl?: number | undefined
  maxTvl?: number | undefined
  minApy?: number | undefined
  maxApy?: number | undefined
  minLiquidity?: number | undefined
  minExpiry?: number | undefined
  maxExpiry?: number | undefined
}

/** Markets that run and pass; `leftOut`: how many would but for their standing. */
export function narrowed(markets: readonly FixedTermMarket[], query: FixedTermFilter, shown: Shown) {
  const inAssets = query.allowedAssets && assetNames(query.allowedAssets, allOf(shown, markets))
  const notAssets = query.disallowedAssets && assetNames(query.disallowedAssets, allOf(shown, markets))
  const passing = markets.filter(
    market =>
      !market.hasEnded &&
      (inAssets ? inAssets(market.info) : !notAssets?.(market.info)) &&
      within(usdOfMarket(market, market.tvl), query.minTvl, query.maxTvl) &&
      within(usdOfMarket(market, market.liquidity), query.minLiquidity, undefined) &&
      within(market.apy, query.minApy, query.maxApy) &&
      within(market.expiry, query.minExpiry, query.maxExpiry),
  )
  const kept = passing.filter(({ standing }) => shown.withUnlisted || standing !== 'found')
  return { kept, leftOut: passing.length - kept.length }
}

/** A symbol names the assets of markets that are vouched for as well as those of vaults. */
const allOf = (shown: Shown, markets: readonly FixedTermMarket[]): Pick<Shown, 'isNamed'> => {
  const own = new Set(markets.filter(({ standing }) => standing !== 'found').map(({ info }) => info.key))
  return { isNamed: asset => shown.isNamed(asset) || own.has(asset.key) }
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

/** Those whose figure is not known come last in either order; equals by chain and address. */
export function sorted(
  markets: readonly FixedTermMarket[],
  key: SortKey,
  order: 'asc' | 'desc',
): FixedTermMarket[] {
  const keyed = markets.map(market => ({ market, figure: figureOf(market, key) }))
  const sign = order === 'asc' ? 1 : -1
  return keyed
    .sort((a, b) => {
      if (a.figure === undefined || b.figure === undefined)
        return (
          Number(a.figure === undefined) - Number(b.figure === undefined) || byIdentity(a.market, b.market)
        )
      return sign * (a.figure - b.figure) || byIdentity(a.market, b.market)
    })
    .map(({ market }) => market)
}

const byIdentity = (a: FixedTermMarket, b: FixedTermMarket) =>
  a.chainId - b.chainId || (a.address < b.address ? -1 : a.address > b.address ? 1 : 0)

/** Names in a filter that nobody knows. */
export function unsupportedIn(
  query: FixedTermFilter,
  shown: Shown,
  markets: readonly FixedTermMarket[],
): Unsupported {
  const own = new Set(
    markets
      .filter(({ standing }) => shown.withUnlisted || standing !== 'found')
      .map(({ info }) => info.symbol.toLowerCase()),
  )
  return {
    unsupportedNetworks: unsupportedNetworks(
      {
        ...(query.allowedNetworks && { allowedNetworks: query.allowedNetworks }),
        ...(query.disallowedNetworks && { disallowedNetworks: query.disallowedNetworks }),
      },
      shown.catalogue,
    ),
    unsupportedAssets: unknownOf(
      [query.allowedAssets, query.disallowedAssets],
      name => own.has(name.toLowerCase()) || shown.knowsAsset(name),
    ),
    unsupportedProtocols: [],
  }
}
