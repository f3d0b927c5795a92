import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { apyOf } from '../../../catalogue/wire.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Apy4 } from '../../../http/shapes.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/detailed-vaults/{network}/{vaultId}/apy',
  summary: 'The APY of one vault',
  params: vaultParams,
  response: Apy4,
  example: { params: { network: '{network}', vaultId: '{vault}' } },
  cost: 1,
  cache: 'moment',
  handler: ({ params }, context) => apyOf(findVault(params, context).vault),
})
