import { defineEndpoint } from '../../../endpoint.ts'
import { vaultParams } from '../../../find-vault.ts'
import { readNrt, required } from '../../../nrt/read-nrt.ts'
import { z } from '../../../schemas/zod.ts'

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
