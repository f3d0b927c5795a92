import { vaultParams } from '../../../catalogue/find-vault.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Amount } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { readNrt, required } from '../../../nrt/read-nrt.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/nrt/vault/{network}/{vaultId}/totalSupply',
  summary: 'The total supply of a vault, read on chain now',
  params: vaultParams,
  response: z.strictObject({ totalSupply: Amount }),
  example: { params: { network: '{network}', vaultId: '{vault}' } },
  cost: 1,
  cache: 'none',
  async handler({ params }, context) {
    const { totalSupply } = await readNrt(params, context)
    return { totalSupply: required(totalSupply, 'total supply') }
  },
})
