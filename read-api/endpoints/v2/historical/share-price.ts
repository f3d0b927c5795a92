import { defineEndpoint } from '../../../endpoint.ts'
import { findVault, vaultParams } from '../../../find-vault.ts'
import { pageOf } from '../../../schemas/shapes.ts'
import { z } from '../../../schemas/zod.ts'
import { at, HISTORY_NOTE, seriesQuery, sharePriceOf, vaultSeries } from '../../../vault-history.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/historical/{network}/{vaultId}/sharePrice',
  summary: 'The share price of a vault over time',
  description: HISTORY_NOTE,
  params: vaultParams,
  query: seriesQuery,
  response: pageOf(z.strictObject({ timestamp: z.int(), blockNumber: z.string(), sharePrice: z.number() })),
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
