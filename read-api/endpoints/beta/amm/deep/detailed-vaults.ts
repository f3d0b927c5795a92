import { ammVaultsOf } from '../../../../amm/book.ts'
import { Deep } from '../../../../amm/schemas.ts'
import { ammFilter, narrowed, sorted, unsupportedIn } from '../../../../amm/select.ts'
import { deepWire } from '../../../../amm/wire.ts'
import { chainsOf } from '../../../../catalogue/filter.ts'
import { sortOrder } from '../../../../catalogue/filter-schema.ts'
import { defineEndpoint } from '../../../../http/endpoint.ts'
import { pageOfAll } from '../../../../http/paging.ts'
import { paging } from '../../../../http/parameters.ts'
import { pageOf, Unsupported } from '../../../../http/shapes.ts'
import { z } from '../../../../http/zod.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/amm/deep/detailed-vaults',
  summary: 'Vaults of concentrated liquidity, of all networks',
  description:
    'Each puts two tokens into positions of one pool and takes deposits of one of them, or of both. apr is what the value of a share grew by, price of the pair and fees together; rewards of gauges are in no figure. The owner of a vault can move all that it has at a rebalance.',
  query: z.object({ ...ammFilter, sortOrder, ...paging() }),
  response: pageOf(Deep).extend({ errors: Unsupported }),
  example: { query: { perPage: '5', sortBy: 'tvl', sortOrder: 'desc' } },
  cost: ({ items }) => 1 + 3 * items,
  cache: 'moment',
  face: 'amm',
  async handler({ query }, context) {
    const chains = chainsOf(context.catalogue, 'amm', query)
    const vaults = (await Promise.all(chains.map(chainId => ammVaultsOf(context, chainId)))).flat()
    const { kept, leftOut } = narrowed(vaults, query, context.shown)
    const page = pageOfAll(sorted(kept, query.sortBy ?? 'tvl', query.sortOrder), query)
    context.leaveOut(leftOut.length, page.itemsOnPage === 0)
    return {
      ...page,
      data: page.data.map(deepWire),
      errors: unsupportedIn(query, context.shown, vaults),
    }
  },
})
