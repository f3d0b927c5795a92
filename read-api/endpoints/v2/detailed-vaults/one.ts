import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { detailedJson } from '../../../catalogue/wire.ts'
import { defineEndpoint, ReadyJson } from '../../../http/endpoint.ts'
import { DetailedVault } from '../../../vaults/schemas.ts'

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
  // Its score weighs its protocol on all chains, and a feed of another chain may price its asset.
  standsOnAll: true,
  handler: ({ params }, context) => new ReadyJson(detailedJson(findVault(params, context).vault), 1),
})
