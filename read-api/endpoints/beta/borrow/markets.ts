import { chainsOf } from '../../../catalogue/filter.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { paging } from '../../../http/parameters.ts'
import { pageOf, Unsupported } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { lendingMarkets } from '../../../lending/book.ts'
import { Market } from '../../../lending/schemas.ts'
import {
  marketFilter,
  marketsPage,
  marketsUnlisted,
  networkFilter,
  protocolFilter,
} from '../../../lending/select.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/borrow/markets',
  summary: 'Lending markets of all networks, with rates, totals and risk parameters',
  query: z.object({
    ...networkFilter,
    ...protocolFilter,
    ...marketFilter,
    allowUnlisted: marketsUnlisted,
    ...paging(),
  }),
  response: pageOf(Market).extend({ errors: Unsupported }),
  example: { query: { perPage: '5' } },
  cost: ({ items }) => 1 + 3 * items,
  cache: 'moment',
  face: 'lending',
  async handler({ query }, context) {
    const chains = chainsOf(context.catalogue, 'lending', query)
    const markets = (await Promise.all(chains.map(chainId => lendingMarkets(context, chainId)))).flat()
    return marketsPage(markets, query, context)
  },
})
