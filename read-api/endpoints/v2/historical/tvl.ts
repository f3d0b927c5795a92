import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { pageOf, Tvl } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { at, HISTORY_NOTE, seriesQuery, valuedSeries } from '../../../vaults/history.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/historical/{network}/{vaultId}/tvl',
  summary: 'The total value locked in a vault over time',
  description: `${HISTORY_NOTE} USD at the asset's price of the moment.`,
  params: vaultParams,
  query: seriesQuery,
  response: pageOf(z.strictObject({ timestamp: z.int(), blockNumber: z.string(), tvl: Tvl })),
  table: 'data',
  example: { params: { network: '{network}', vaultId: '{vault}' }, query: { granularity: '1day' } },
  cost: ({ items }) => 1 + items,
  cache: 'moment',
  handler({ params, query }, context) {
    return valuedSeries(findVault(params, context), query, context, {}, (row, tvl) => ({ ...at(row), tvl }))
  },
})
