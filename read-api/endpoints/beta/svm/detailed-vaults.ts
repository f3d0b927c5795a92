import { defineEndpoint } from '../../../http/endpoint.ts'
import { pageOfAll } from '../../../http/paging.ts'
import { paging } from '../../../http/parameters.ts'
import { pageOf } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { svmVaultsOf } from '../../../svm/book.ts'
import { SvmDetailed } from '../../../svm/schemas.ts'
import { narrowed, sorted, svmFilter } from '../../../svm/select.ts'
import { detailedWire } from '../../../svm/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/svm/detailed-vaults',
  summary: 'Vaults on Solana with everything known of them, filtered and sorted',
  description:
    'Figures are of the last sample before the slot that x-as-of-block names: no node tells of the past. TVL is what lies in a vault in its asset, APY follows from the price of a share.',
  query: z.object({ ...svmFilter, ...paging() }),
  response: pageOf(SvmDetailed),
  example: { query: { sortBy: 'apy7day', sortOrder: 'desc', perPage: '5' } },
  cost: ({ items }) => 1 + 3 * items,
  cache: 'moment',
  face: 'svm',
  async handler({ query }, context) {
    const { catalogue, shown } = context
    const { kept, leftOut } = narrowed(await svmVaultsOf(context), query, catalogue, shown.withUnlisted)
    const page = pageOfAll(sorted(kept, query.sortBy ?? 'tvl', query.sortOrder), query)
    context.leaveOut(leftOut.length, kept.length === 0)
    return { ...page, data: page.data.map(vault => detailedWire(vault, catalogue)) }
  },
})
