import { ANALYTICS_NOTE, analyticsOf } from '../../../analytics.ts'
import { compileFilter } from '../../../catalogue/filter.ts'
import { defineEndpoint } from '../../../endpoint.ts'
import { pageOfAll } from '../../../paging.ts'
import { AnalyticsItem, analyticsBody, itemCost } from '../../../schemas/analytics.ts'
import { vaultFilter } from '../../../schemas/filter.ts'
import { paging } from '../../../schemas/parameters.ts'
import { pageOf, Unsupported } from '../../../schemas/shapes.ts'
import { z } from '../../../schemas/zod.ts'

export default defineEndpoint({
  tier: ['beta', 'alpha'],
  method: 'post',
  path: '/advanced-analytics',
  summary: 'Chosen analytics of many vaults',
  description: `By network and address. ${ANALYTICS_NOTE}`,
  query: z.object({ ...vaultFilter, ...paging() }),
  body: analyticsBody,
  response: pageOf(AnalyticsItem).extend({ errors: Unsupported }),
  example: { query: { perPage: '5' }, body: { select: { maxDrawdown: true, utilizationRate: true } } },
  cost: ({ items, request }) => 1 + items * itemCost(request),
  cache: 'moment',
  async handler({ query, body }, context) {
    const { catalogue, touch } = context
    const filter = compileFilter(query, catalogue)
    touch(...catalogue.moment.chains.keys())
    const page = pageOfAll(
      catalogue.identity.filter(vault => filter.matches(vault)),
      query,
    )
    return { ...page, data: await analyticsOf(page.data, body, context), errors: filter.errors }
  },
})
