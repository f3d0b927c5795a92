import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { timestamp, userAddress } from '../../../http/parameters.ts'
import { widened, z } from '../../../http/zod.ts'
import { readRange } from '../../../moment/time-range.ts'
import { partialReturns } from '../../../portfolio/returns.ts'
import { AssetReturns } from '../../../portfolio/schemas.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/portfolio/partial-returns/{userAddress}/{network}/{vaultId}',
  summary: 'What a wallet earned with a vault in a window of time',
  description:
    'From the last sample of the vault at or before fromTimestamp (its first, where there is none) to the last at or before toTimestamp; the answer says which these are. Windows that follow each other add up. A position closed inside the window keeps what it earned in it.',
  params: vaultParams.extend({ userAddress: userAddress() }),
  query: z.object({
    fromTimestamp: timestamp(),
    toTimestamp: timestamp().optional().openapi({ description: 'Unix seconds; the newest where absent.' }),
  }),
  response: widened(AssetReturns, {
    fromTimestamp: z.int().openapi({ description: 'Of the sample that the window begins at.' }),
    toTimestamp: z.int().openapi({ description: 'Of the sample that the window ends at.' }),
  }),
  example: {
    params: { userAddress: '{user}', network: '{network}', vaultId: '{vault}' },
    query: { fromTimestamp: '{timestamp}' },
  },
  cost: 1,
  cache: 'moment',
  async handler({ params, query }, context) {
    const range = readRange(query, context.catalogue.moment)
    const found = findVault(params, context)
    const { returns, from, to } = await partialReturns(params.userAddress, found, range, context)
    return {
      ...found.vault.asset.wire,
      returnsNative: returns.toString(),
      fromTimestamp: from,
      toTimestamp: to,
    }
  },
})
