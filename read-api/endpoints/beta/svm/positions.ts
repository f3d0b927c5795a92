import { defineEndpoint } from '../../../http/endpoint.ts'
import { choice, svmAddress } from '../../../http/parameters.ts'
import { leftOutWarning } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { minUsdAssetValueThreshold, reaches } from '../../../portfolio/select-positions.ts'
import { svmPositions } from '../../../svm/portfolio.ts'
import { SvmPosition } from '../../../svm/schemas.ts'
import { allowUnlisted } from '../../../svm/select.ts'
import { SVM_WINDOWS, usdOfAssets, worthOf } from '../../../svm/vault.ts'
import { positionWire } from '../../../svm/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/svm/portfolio/positions/{userAddress}',
  summary: 'Vaults on Solana of which a wallet holds shares, and what these are worth',
  description:
    'asset.balanceNative is what the shares are worth in the asset, and never a number of shares. Shares are counted over all token accounts of the wallet that moved since the index began.',
  params: z.object({ userAddress: svmAddress('The wallet.') }),
  query: z.object({
    apyInterval: choice(SVM_WINDOWS)
      .optional()
      .openapi({
        type: 'string',
        enum: [...SVM_WINDOWS],
        default: '7day',
        description: 'The window that APY is reckoned over.',
      }),
    minUsdAssetValueThreshold,
    allowUnlisted,
  }),
  response: z.strictObject({ data: z.array(SvmPosition), ...leftOutWarning }),
  example: { params: { userAddress: '{svmUser}' } },
  cost: 5,
  cache: 'moment',
  face: 'svm',
  async handler({ params, query }, context) {
    const { catalogue, shown } = context
    const all = await svmPositions(params.userAddress, context)
    const passing = all.filter(({ vault, shares }) =>
      reaches(usdOfAssets(vault, worthOf(vault, shares)), query.minUsdAssetValueThreshold ?? 0),
    )
    const kept = passing.filter(({ vault }) => shown.withUnlisted || vault.standing !== 'found')
    context.leaveOut(passing.length - kept.length, kept.length === 0)
    const window = query.apyInterval ?? '7day'
    return { data: kept.map(({ vault, shares }) => positionWire(vault, shares, window, catalogue)) }
  },
})
