import { networkOfChain } from '../../../../db/networks.ts'
import { defineEndpoint } from '../../../endpoint.ts'
import { pageOfAll } from '../../../paging.ts'
import { network, paging } from '../../../schemas/parameters.ts'
import { AssetOnNetwork, pageOf } from '../../../schemas/shapes.ts'
import { z } from '../../../schemas/zod.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/assets',
  summary: 'Assets of vaults, by network and symbol',
  query: z.object({ network: network().optional(), ...paging() }),
  response: pageOf(AssetOnNetwork),
  example: { query: { perPage: '5' } },
  cost: 1,
  cache: 'moment',
  handler({ query }, { catalogue, touch }) {
    touch(...(query.network ? [query.network.chainId] : catalogue.moment.chains.keys()))
    const all = catalogue.assetList()
    const wanted = query.network ? all.filter(({ chainId }) => chainId === query.network?.chainId) : all
    const page = pageOfAll(wanted, query)
    return {
      ...page,
      data: page.data.flatMap(asset => {
        const of = networkOfChain(asset.chainId)
        return of ? [{ ...asset.wire, network: of }] : []
      }),
    }
  },
})
