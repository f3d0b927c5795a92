import { detailedJson } from '../../../catalogue/wire.ts'
import { defineEndpoint, ReadyJson } from '../../../endpoint.ts'
import { findVault, vaultParams } from '../../../find-vault.ts'
import { DetailedVault } from '../../../schemas/vault.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/detailed-vaults/{network}/{vaultId}',
  summary: 'One vault with everything known of it',
  params: vaultParams,
  response: DetailedVault,
  example: { params: { network: '{network}', vaultId: '{vault}' } },
  cost: 3,
  cache: 'moment',
  handler: ({ params }, context) => new ReadyJson(detailedJson(findVault(params, context).vault), 1),
})
