import { unsupportedNames } from '../../../catalogue/filter.ts'
import { defineEndpoint } from '../../../endpoint.ts'
import { readIdleAssets } from '../../../idle-assets.ts'
import { COIN_SYMBOLS } from '../../../native-coins.ts'
import { balanceOf } from '../../../positions.ts'
import { vaultFilter } from '../../../schemas/filter.ts'
import { address, choice } from '../../../schemas/parameters.ts'
import { AssetBalanceOnNetwork, IdleErrors } from '../../../schemas/portfolio.ts'
import { z } from '../../../schemas/zod.ts'
import { compareFigures, minUsdAssetValueThreshold, reaches } from '../../../select-positions.ts'

const { allowedNetworks, disallowedNetworks, allowedAssets, disallowedAssets } = vaultFilter
const direction = choice(['asc', 'desc']).optional()

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/portfolio/idle-assets/{userAddress}',
  summary: 'What a wallet holds, uninvested, of assets that vaults take',
  description:
    'Read on chain now. Shares of known vaults are positions and not listed. A network that does not answer in time is named in errors.unreachableNetworks; where none answers, the status is 503.',
  params: z.object({ userAddress: address() }),
  query: z.object({
    allowedNetworks,
    disallowedNetworks,
    allowedAssets,
    disallowedAssets,
    minUsdAssetValueThreshold,
    sortBy: choice(['balanceUsd'])
      .optional()
      .openapi({ type: 'string', enum: ['balanceUsd'], default: 'balanceUsd' }),
    sortDirection: direction.openapi({ type: 'string', enum: ['asc', 'desc'], default: 'asc' }),
    sortOrder: direction.openapi({
      type: 'string',
      enum: ['asc', 'desc'],
      description: 'The same as sortDirection, which goes before it.',
    }),
  }),
  response: z.strictObject({ data: z.array(AssetBalanceOnNetwork), errors: IdleErrors }),
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
    const { unsupportedNetworks, unsupportedAssets } = unsupportedNames(query, context.catalogue)
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
