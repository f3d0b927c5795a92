import { defineEndpoint } from '../../../endpoint.ts'
import { findVault, vaultParams } from '../../../find-vault.ts'
import { positionOf, readPosition } from '../../../positions.ts'
import { userAddress } from '../../../schemas/parameters.ts'
import { Position } from '../../../schemas/portfolio.ts'
import { z } from '../../../schemas/zod.ts'
import { apyInterval } from '../../../vault-history.ts'

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
