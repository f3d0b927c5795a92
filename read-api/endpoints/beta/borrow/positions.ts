import { chainsOf } from '../../../catalogue/filter.ts'
import { sortOrder } from '../../../catalogue/filter-schema.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { pageOfAll } from '../../../http/paging.ts'
import { choice, names, number, paging, userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { lendingMarkets } from '../../../lending/book.ts'
import type { AssetPosition, LendingPosition } from '../../../lending/family.ts'
import { distinctPositions, readWallet } from '../../../lending/positions.ts'
import { BorrowPosition } from '../../../lending/schemas.ts'
import { namesOf, networkFilter, passes, shownMarkets, unsupportedIn } from '../../../lending/select.ts'
import { positionWire, usdOf } from '../../../lending/wire.ts'

const sortKeys = ['balanceUsd', 'suppliedUsd', 'borrowedUsd', 'ltv', 'healthFactor'] as const

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/borrow/portfolio/positions/{userAddress}',
  summary: 'The markets that a wallet owes something to',
  description:
    'Only markets in which, after filtering by asset and USD value, an asset with debt is left: filtering out the debt asset removes the market with its collateral. Positions without debt are read by market. ltv and healthFactor are of the whole position. An Euler debt stands in each market that pairs its lender with collateral that secures it, and each sub-account of the wallet has positions of its own. To add up over markets, count each positionId once.',
  params: z.object({ userAddress: userAddress() }),
  query: z.object({
    ...networkFilter,
    allowedAssets: names({ description: 'Symbols of assets, in any case.', example: ['USDC'] }),
    disallowedAssets: names({ description: 'Ignored where allowedAssets is given.' }),
    minUsdAssetValueThreshold: number({ min: 0 }).optional().openapi({
      default: 0,
      description: 'USD. Of what is supplied or borrowed of an asset, whichever is more.',
    }),
    sortBy: choice(sortKeys)
      .optional()
      .openapi({
        type: 'string',
        enum: [...sortKeys],
        description:
          'The figure that the list is sorted by; by network and market where absent. A health factor that is not known counts as the lowest, an ltv as the highest.',
      }),
    sortOrder,
    ...paging(),
  }),
  response: z.strictObject({
    itemsOnPage: z.int(),
    nextPage: z.int().nullable(),
    data: z.array(BorrowPosition),
    errors: z.strictObject({
      unsupportedNetworks: z.array(z.string()),
      unsupportedAssets: z.array(z.string()),
    }),
  }),
  example: { params: { userAddress: '{user}' } },
  cost: 5,
  cache: 'moment',
  face: 'lending',
  async handler({ params, query }, context) {
    const chains = chainsOf(context.catalogue, 'lending', query)
    const markets = await Promise.all(chains.map(chainId => lendingMarkets(context, chainId)))
    const positions = await Promise.all(markets.map(of => readWallet(of, params.userAddress, context)))
    const words = (names: string[] | undefined) => names && new Set(names.map(name => name.toLowerCase()))
    const allowed = words(query.allowedAssets)
    const disallowed = words(query.disallowedAssets)
    const threshold = query.minUsdAssetValueThreshold ?? 0
    const isShown = ({ asset, supplied, borrowed }: AssetPosition) => {
      if (!passes(namesOf(asset.info), allowed, disallowed)) return false
      if (threshold <= 0) return true
      const usd = usdOf(asset, supplied > borrowed ? supplied : borrowed)
      return usd !== undefined && usd >= threshold
    }
    const shown = positions
      .flatMap(distinctPositions)
      .map(position => ({ position, assets: position.assets.filter(isShown) }))
      .filter(({ assets }) => assets.some(({ borrowed }) => borrowed > 0n))
    const { sortBy } = query
    if (sortBy) {
      const sign = query.sortOrder === 'asc' ? 1 : -1
      const figures = new Map(shown.map(of => [of, figureOf(of, sortBy)]))
      shown.sort((a, b) => {
        const [left, right] = [figures.get(a), figures.get(b)]
        if (left === undefined || right === undefined)
          return Number(left === undefined) - Number(right === undefined)
        return left === right ? 0 : sign * (left - right)
      })
    }
    const page = pageOfAll(shown, query)
    const { unsupportedNetworks, unsupportedAssets } = unsupportedIn(
      query,
      context.shown,
      shownMarkets(markets.flat(), context),
    )
    return {
      ...page,
      data: page.data.map(({ position, assets }) => positionWire(position, assets)),
      errors: { unsupportedNetworks, unsupportedAssets },
    }
  },
})

function figureOf(
  { position, assets }: { position: LendingPosition; assets: readonly AssetPosition[] },
  key: (typeof sortKeys)[number],
): number | undefined {
  // What is not known of a debtor may be the worst.
  if (key === 'ltv') return position.ltv ?? Number.POSITIVE_INFINITY
  if (key === 'healthFactor') return position.healthFactor ?? Number.NEGATIVE_INFINITY
  let sum = 0
  for (const { asset, supplied, borrowed } of assets) {
    const amount = key === 'suppliedUsd' ? supplied : key === 'borrowedUsd' ? borrowed : supplied - borrowed
    const usd = usdOf(asset, amount)
    if (usd === undefined) return undefined
    sum += usd
  }
  return sum
}
