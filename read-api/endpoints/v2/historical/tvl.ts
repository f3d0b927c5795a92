import { defineEndpoint } from '../../../endpoint.ts'
import { findVault, vaultParams } from '../../../find-vault.ts'
import { pageOf, Tvl } from '../../../schemas/shapes.ts'
import { z } from '../../../schemas/zod.ts'
import { at, HISTORY_NOTE, seriesQuery, tvlsAt, vaultSeries } from '../../../vault-history.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/historical/{network}/{vaultId}/tvl',
  summary: 'The total value locked in a vault over time',
  description: `${HISTORY_NOTE} USD at the asset's price of the moment.`,
  params: vaultParams,
  query: seriesQuery,
  response: pageOf(z.strictObject({ timestamp: z.int(), blockNumber: z.string(), tvl: Tvl })),
  example: { params: { network: '{network}', vaultId: '{vault}' }, query: { granularity: '1day' } },
  cost: ({ items }) => 1 + items,
  cache: 'moment',
  async handler({ params, query }, context) {
    const found = findVault(params, context)
    const { rows, page } = await vaultSeries(found, query, context, at)
    const tvls = await tvlsAt(found, rows, context)
    return {
      ...page,
      data: page.data.map((point, i) => ({ ...point, tvl: tvls[i] ?? { usd: '', native: '' } })),
    }
  },
})
