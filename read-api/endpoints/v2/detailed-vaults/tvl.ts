import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { tvlOf } from '../../../catalogue/wire.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Tvl } from '../../../http/shapes.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/detailed-vaults/{network}/{vaultId}/tvl',
  summary: 'The total value locked in one vault',
  params: vaultParams,
  response: Tvl,
  example: { params: { network: '{network}', vaultId: '{vault}' } },
  cost: 1,
  cache: 'moment',
  handler: ({ params }, context) => tvlOf(findVault(params, context).vault),
})
