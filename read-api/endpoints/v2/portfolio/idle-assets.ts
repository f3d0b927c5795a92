import { unsupportedNames } from '../../../catalogue/filter.ts'
import { allowUnlisted, vaultFilter } from '../../../catalogue/filter-schema.ts'
import { compareFigures } from '../../../catalogue/orders.ts'
import { COIN_SYMBOLS } from '../../../chain/native-coins.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { choice, userAddress } from '../../../http/parameters.ts'
import { leftOutWarning } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { readIdleAssets } from '../../../portfolio/idle-assets.ts'
import { balanceOf } from '../../../portfolio/positions.ts'
import { AssetBalanceOnNetwork, IdleErrors } from '../../../portfolio/schemas.ts'
import { minUsdAssetValueThreshold, reaches } from '../../../portfolio/select-positions.ts'

const { allowedNetworks, disallowedNetworks, allowedAssets, disallowedAssets } = vaultFilter
const direction = choice(['asc', 'desc']).optional()

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/portfolio/idle-assets/{userAddress}',
  summary: 'What a wallet holds, uninvested, of assets that vaults take',
  description:
    'Read on chain now. Shares of known vaults are positions and not listed. Tokens without a price are asked for only where a listed vault takes them, all others with allowUnlisted, last. A network that does not answer in time is named in errors.unreachableNetworks; where none answers, the status is 503.',
  params: z.object({ userAddress: userAddress() }),
  query: z.object({
    allowedNetworks,
    disallowedNetworks,
    allowedAssets,
    disallowedAssets,
    allowUnlisted,
    minUsdAssetValueThreshold,
    sortBy: choice(['balanceUsd'])
      .optional()
      .openapi({
        type: 'string',
        enum: ['balanceUsd'],
        default: 'balanceUsd',
        description: 'The figure that the list is sorted by.',
      }),
    sortDirection: direction.openapi({
      type: 'string',
      enum: ['asc', 'desc'],
      default: 'asc',
      description: 'Ascending or descending; what is not known comes last in either.',
    }),
    sortOrder: direction.openapi({
      type: 'string',
      enum: ['asc', 'desc'],
      description: 'The same as sortDirection, which goes before it.',
    }),
  }),
  response: z.strictObject({
    data: z.array(AssetBalanceOnNetwork),
    errors: IdleErrors,
    ...leftOutWarning,
  }),
  example: { params: { userAddress: '{user}' } },
  cost: 5,
  cache: 'none',
  async handler({ params, query }, context) {
    const { idle, unreachable, blocks } = await readIdleAssets(params.userAddress, query, context, {
      coins: true,
    })
    for (const [chainId, block] of blocks) context.readAt(chainId, block)
    const order = query.sortDirection ?? query.sortOrder ?? 'asc'
    const shown = idle
      .filter(({ balanceUsd }) => reaches(balanceUsd, query.minUsdAssetValueThreshold ?? 0))
      .sort((a, b) => compareFigures(a.balanceUsd, b.balanceUsd, order))
    // A wallet that holds nothing gets no warning of vaults left out; where no asset was looked for, it does.
    context.leaveOut(context.shown.leftOut.length, context.shown.assets().length === 0)
    const { unsupportedNetworks, unsupportedAssets } = unsupportedNames(query, context.shown)
    return {
      data: shown.map(({ asset, network, balance }) => ({
        ...asset.wire,
        network,
        ...balanceOf(balance, asset.decimals, asset.price),
      })),
      errors: {
        unsupportedNetworks,
        unsupportedAssets: unsupportedAssets.filter(name => !COIN_SYMBOLS.has(name.toLowerCase())),
        ...(unreachable.length > 0 ? { unreachableNetworks: unreachable } : {}),
      },
    }
  },
})
