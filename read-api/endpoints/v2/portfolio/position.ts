import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { positionOf, readPosition } from '../../../portfolio/positions.ts'
import { Position } from '../../../portfolio/schemas.ts'
import { apyInterval } from '../../../vaults/history.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/portfolio/positions/{userAddress}/{network}/{vaultId}',
  summary: 'What a wallet holds of one vault',
  description:
    'A wallet without shares has a position of 0. asset.balanceNative, what the wallet holds of the underlying asset besides, is read on chain now, and empty where the chain does not answer.',
  params: vaultParams.extend({ userAddress: userAddress() }),
  query: z.object({ apyInterval }),
  response: Position,
  example: { params: { userAddress: '{user}', network: '{network}', vaultId: '{vault}' } },
  cost: 1,
  cache: 'none',
  async handler({ params, query }, context) {
    const found = findVault(params, context)
    return positionOf(await readPosition(params.userAddress, found, context), query.apyInterval)
  },
})
