import { ammBalanceOf, ammPath, findAmmVault } from '../../../../amm/book.ts'
import { DeepPosition } from '../../../../amm/schemas.ts'
import { deepPositionWire } from '../../../../amm/wire.ts'
import { defineEndpoint } from '../../../../http/endpoint.ts'
import { userAddress } from '../../../../http/parameters.ts'
import { z } from '../../../../http/zod.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/amm/deep/positions/{userAddress}/{network}/{vaultId}',
  summary: 'What a wallet holds of a vault of concentrated liquidity',
  params: z.object({ userAddress: userAddress(), ...ammPath }),
  response: DeepPosition,
  example: { params: { userAddress: '{user}', network: '{network}', vaultId: '{ammVault}' } },
  cost: 3,
  cache: 'moment',
  face: 'amm',
  async handler({ params }, context) {
    const vault = await findAmmVault(params, context)
    return deepPositionWire(vault, await ammBalanceOf(context, vault, params.userAddress))
  },
})
