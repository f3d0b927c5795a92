import { networkOfChain } from '../../../../db/networks.ts'
import { unsupportedNames } from '../../../catalogue/filter.ts'
import { allowUnlisted } from '../../../catalogue/filter-schema.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { pageOfAll } from '../../../http/paging.ts'
import { network, paging } from '../../../http/parameters.ts'
import { AssetOnNetwork, pageOf, Unsupported } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/assets',
  summary: 'Assets of vaults, by network and symbol',
  query: z.object({ network: network().optional(), allowUnlisted, ...paging() }),
  response: pageOf(AssetOnNetwork).extend({ errors: Unsupported.optional() }),
  example: { query: { perPage: '5' } },
  cost: 1,
  cache: 'moment',
  handler({ query }, { catalogue, shown, touch, leaveOut }) {
    touch(...(query.network ? [query.network.chainId] : catalogue.moment.chains.keys()))
    const all = shown.assets()
    const wanted = query.network ? all.filter(({ chainId }) => chainId === query.network?.chainId) : all
    const page = pageOfAll(wanted, query)
    leaveOut(
      shown.leftOut.filter(({ state }) => !query.network || state.chainId === query.network.chainId).length,
      page.itemsOnPage === 0,
    )
    return {
      ...page,
      data: page.data.flatMap(asset => {
        const of = networkOfChain(asset.chainId)
        return of ? [{ ...asset.wire, network: of }] : []
      }),
      ...(query.network && !catalogue.chain(query.network.chainId)
        ? { errors: unsupportedNames({ allowedNetworks: [query.network.name] }, shown) }
        : {}),
    }
  },
})
