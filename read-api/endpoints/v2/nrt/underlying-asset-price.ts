import { vaultParams } from '../../../catalogue/find-vault.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { z } from '../../../http/zod.ts'
import { readNrt, required } from '../../../nrt/read-nrt.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/nrt/vault/{network}/{vaultId}/underlyingAssetPrice',
  summary: 'The price of the underlying asset of a vault, read on chain now',
  params: vaultParams,
  response: z.strictObject({ underlyingAssetPrice: z.number() }),
  example: { params: { network: '{network}', vaultId: '{vault}' } },
  cost: 1,
  cache: 'none',
  async handler({ params }, context) {
    const { underlyingAssetPrice } = await readNrt(params, context)
    return { underlyingAssetPrice: required(underlyingAssetPrice, 'price of the underlying asset') }
  },
})
