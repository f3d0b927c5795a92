import { vaultParams } from '../../../catalogue/find-vault.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { z } from '../../../http/zod.ts'
import { readNrt, required } from '../../../nrt/read-nrt.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/nrt/vault/{network}/{vaultId}/sharePrice',
  summary: 'The share price of a vault, read on chain now',
  params: vaultParams,
  response: z.strictObject({ sharePrice: z.number() }),
  example: { params: { network: '{network}', vaultId: '{vault}' } },
  cost: 1,
  cache: 'none',
  async handler({ params }, context) {
    const { sharePrice } = await readNrt(params, context)
    return { sharePrice: required(sharePrice, 'share price') }
  },
})
