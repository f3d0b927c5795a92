import { chainsOf } from '../../../catalogue/filter.ts'
import { sortOrder } from '../../../catalogue/filter-schema.ts'
import { fixedTermMarketsOf } from '../../../fixed-term/book.ts'
import { FixedTerm } from '../../../fixed-term/schemas.ts'
import { fixedTermFilter, narrowed, sorted, unsupportedIn } from '../../../fixed-term/select.ts'
import { fixedTermWire } from '../../../fixed-term/wire.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { pageOfAll } from '../../../http/paging.ts'
import { paging } from '../../../http/parameters.ts'
import { pageOf, Unsupported } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/fixed-term',
  summary: 'Fixed-term markets that have not ended, of all networks',
  description:
    'Each buys and sells principal tokens (PT): worth one of the asset at the expiry, bought for less before, at the rate that apy says.',
  query: z.object({ ...fixedTermFilter, sortOrder, ...paging() }),
  response: pageOf(FixedTerm).extend({ errors: Unsupported }),
  example: { query: { perPage: '5', sortBy: 'apy', sortOrder: 'desc' } },
  cost: ({ items }) => 1 + 3 * items,
  cache: 'moment',
  face: 'fixed-term',
  async handler({ query }, context) {
    const chains = chainsOf(context.catalogue, 'fixed-term', query)
    const markets = (await Promise.all(chains.map(chainId => fixedTermMarketsOf(context, chainId)))).flat()
    const { kept, leftOut } = narrowed(markets, query, context.shown)
    const page = pageOfAll(sorted(kept, query.sortBy ?? 'tvl', query.sortOrder), query)
    context.leaveOut(leftOut.length, page.itemsOnPage === 0, 'market')
    return {
      ...page,
      data: page.data.map(fixedTermWire),
      errors: unsupportedIn(query, context.shown, markets),
    }
  },
})
