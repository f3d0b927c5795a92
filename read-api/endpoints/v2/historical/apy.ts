import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { pageOf, Rate } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { apySeries, at, HISTORY_NOTE, seriesQuery } from '../../../vaults/history.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/historical/{network}/{vaultId}/apy',
  summary: 'The APY of a vault over time',
  description: HISTORY_NOTE,
  params: vaultParams,
  query: seriesQuery,
  response: pageOf(z.strictObject({ timestamp: z.int(), blockNumber: z.string(), apy: Rate })),
  table: 'data',
  example: {
    params: { network: '{network}', vaultId: '{vault}' },
    query: { granularity: '1day', apyInterval: '1day' },
  },
  cost: ({ items }) => 1 + items,
  cache: 'moment',
  handler({ params, query }, context) {
    return apySeries(findVault(params, context), query, context, (row, apy) => ({ ...at(row), apy }))
  },
})
