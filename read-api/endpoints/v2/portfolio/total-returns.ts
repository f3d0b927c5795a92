import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { userAddress } from '../../../http/parameters.ts'
import { totalReturns } from '../../../portfolio/returns.ts'
import { AssetReturns } from '../../../portfolio/schemas.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/portfolio/total-returns/{userAddress}/{network}/{vaultId}',
  summary: 'What a wallet has earned with a vault in all its life',
  description:
    'Value of the position now, and all withdrawn, less all deposited. Shares received or sent count at the share price of their block. A closed position keeps what it earned.',
  params: vaultParams.extend({ userAddress: userAddress() }),
  response: AssetReturns,
  example: { params: { userAddress: '{user}', network: '{network}', vaultId: '{vault}' } },
  cost: 1,
  cache: 'moment',
  async handler({ params }, context) {
    const found = findVault(params, context)
    const returns = await totalReturns(params.userAddress, found, context)
    return { ...found.vault.asset.wire, returnsNative: returns.toString() }
  },
})
