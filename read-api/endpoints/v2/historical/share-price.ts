import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { pageOf } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { at, HISTORY_NOTE, seriesQuery, sharePriceOf, vaultSeries } from '../../../vaults/history.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/historical/{network}/{vaultId}/sharePrice',
  summary: 'The share price of a vault over time',
  description: HISTORY_NOTE,
  params: vaultParams,
  query: seriesQuery,
  response: pageOf(z.strictObject({ timestamp: z.int(), blockNumber: z.string(), sharePrice: z.number() })),
  table: 'data',
  example: { params: { network: '{network}', vaultId: '{vault}' }, query: { granularity: '1week' } },
  cost: ({ items }) => 1 + items,
  cache: 'moment',
  handler({ params, query }, context) {
    const found = findVault(params, context)
    return vaultSeries(found, query, context, { price: true }, row => ({
      ...at(row),
      sharePrice: sharePriceOf(found, row),
    }))
  },
})
