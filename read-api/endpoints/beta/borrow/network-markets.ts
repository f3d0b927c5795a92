import { defineEndpoint } from '../../../http/endpoint.ts'
import { NotFoundError } from '../../../http/errors.ts'
import { network, paging } from '../../../http/parameters.ts'
import { pageOf, Unsupported } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { lendingMarkets } from '../../../lending/book.ts'
import { Market } from '../../../lending/schemas.ts'
import { marketFilter, marketsPage, marketsUnlisted } from '../../../lending/select.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/borrow/markets/{network}',
  summary: 'Lending markets of a network, with rates, totals and risk parameters',
  params: z.object({ network: network() }),
  query: z.object({ ...marketFilter, allowUnlisted: marketsUnlisted, ...paging() }),
  response: pageOf(Market).extend({ errors: Unsupported }),
  example: { params: { network: '{network}' } },
  cost: ({ items }) => 1 + 3 * items,
  cache: 'moment',
  face: 'lending',
  async handler({ params, query }, context) {
    const { chainId, name } = params.network
    if (!context.catalogue.chain(chainId, 'lending'))
      throw new NotFoundError(`No lending markets are indexed on ${name}.`)
    const markets = await lendingMarkets(context, chainId)
    return marketsPage(markets, query, context)
  },
})
