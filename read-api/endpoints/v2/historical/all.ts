import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { pageOf, Rate, Tvl } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { at, HISTORY_NOTE, seriesQuery, sharePriceOf, valuedSeries } from '../../../vaults/history.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/historical/{network}/{vaultId}',
  summary: 'APY, TVL and share price of a vault over time',
  description: HISTORY_NOTE,
  params: vaultParams,
  query: seriesQuery,
  response: pageOf(
    z.strictObject({
      timestamp: z.int(),
      blockNumber: z.string(),
      apy: Rate,
      tvl: Tvl,
      sharePrice: z.number(),
    }),
  ),
  table: 'data',
  example: { params: { network: '{network}', vaultId: '{vault}' }, query: { granularity: '1day' } },
  cost: ({ items }) => 3 + 3 * items,
  cache: 'moment',
  handler({ params, query }, context) {
    const found = findVault(params, context)
    return valuedSeries(found, query, context, { price: true, apy: true }, (row, tvl, apy) => ({
      ...at(row),
      apy,
      tvl,
      sharePrice: sharePriceOf(found, row),
    }))
  },
})
