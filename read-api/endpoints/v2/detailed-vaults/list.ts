import { compileFilter } from '../../../catalogue/filter.ts'
import { sortBy, sortOrder, vaultFilter } from '../../../catalogue/filter-schema.ts'
import { inOrder } from '../../../catalogue/orders.ts'
import { detailedJson } from '../../../catalogue/wire.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { readyPage } from '../../../http/paging.ts'
import { paging } from '../../../http/parameters.ts'
import { pageOf, Unsupported } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { DetailedVault } from '../../../vaults/schemas.ts'

const sortKeys = ['tvl', 'apy1day', 'apy7day', 'apy30day'] as const

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/detailed-vaults',
  summary: 'Vaults with everything known of them, filtered and sorted',
  description:
    'No filter is set unless it is given; corrupted vaults are left out unless allowCorrupted, and those for which nobody vouches unless allowUnlisted. Vaults of which the figure sorted by is not known come last in either order.',
  query: z.object({
    ...vaultFilter,
    sortBy: sortBy(sortKeys),
    sortOrder,
    ...paging(),
  }),
  response: pageOf(DetailedVault).extend({ errors: Unsupported }),
  example: { query: { sortBy: 'apy7day', sortOrder: 'desc', perPage: '5' } },
  cost: ({ items }) => 1 + 3 * items,
  cache: 'moment',
  handler({ query }, { catalogue, shown, touch, leaveOut }) {
    const filter = compileFilter(query, shown)
    touch(...catalogue.moment.chains.keys())
    const page = readyPage(
      inOrder(catalogue.order(query.sortBy ?? 'tvl'), query.sortOrder),
      vault => filter.matches(vault),
      query,
      detailedJson,
      `,"errors":${JSON.stringify(filter.errors)}`,
    )
    leaveOut(
      shown.leftOut.filter(vault => filter.isLeftOut(vault)).length,
      page.items === 0 && query.page === 0,
    )
    return page
  },
})
