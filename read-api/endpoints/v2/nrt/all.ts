import { vaultParams } from '../../../catalogue/find-vault.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Amount } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { readNrt, required } from '../../../nrt/read-nrt.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/nrt/vault/{network}/{vaultId}',
  summary: 'What a vault says of itself on chain now',
  description:
    'All figures are of one block, which the header x-as-of-block names; it is no older than the time between two blocks. underlyingAssetPrice is left out where no price is known.',
  params: vaultParams,
  response: z.strictObject({
    totalSupply: Amount,
    totalAssets: Amount,
    sharePrice: z.number().openapi({ description: 'Whole assets per whole share.' }),
    underlyingAssetPrice: z.number().optional().openapi({ description: 'USD.' }),
  }),
  example: { params: { network: '{network}', vaultId: '{vault}' } },
  cost: 1,
  cache: 'none',
  async handler({ params }, context) {
    const figures = await readNrt(params, context)
    return {
      totalSupply: required(figures.totalSupply, 'total supply'),
      totalAssets: required(figures.totalAssets, 'total assets'),
      sharePrice: required(figures.sharePrice, 'share price'),
      underlyingAssetPrice: figures.underlyingAssetPrice,
    }
  },
})
