import { compileFilter } from '../../../catalogue/filter.ts'
import { vaultFilter } from '../../../catalogue/filter-schema.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { pageOfAll } from '../../../http/paging.ts'
import { paging } from '../../../http/parameters.ts'
import { pageOf, Unsupported } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { ANALYTICS_NOTE, analyticsOf } from '../../../vaults/analytics.ts'
import { AnalyticsItem, analyticsBody, itemCost, SECTION_COSTS } from '../../../vaults/analytics-schemas.ts'

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
  costInWords: `Costs 1 credit and for each vault of the page the sum of what is selected: ${SECTION_COSTS}.`,
  cost: ({ items, request }) => 1 + items * itemCost(request),
  cache: 'moment',
  face: 'lending',
  async handler({ query, body }, context) {
    const { catalogue, shown, touch, leaveOut } = context
    const filter = compileFilter(query, shown)
    touch(...catalogue.moment.chains.keys())
    const page = pageOfAll(
      shown.vaults.filter(vault => filter.matches(vault)),
      query,
    )
    leaveOut(
      shown.leftOut.filter(vault => filter.isLeftOut(vault)).length,
      page.itemsOnPage === 0 && query.page === 0,
    )
    return { ...page, data: await analyticsOf(page.data, body, context), errors: filter.errors }
  },
})
