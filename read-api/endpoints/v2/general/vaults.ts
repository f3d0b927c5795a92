import { listedJson } from '../../../catalogue/wire.ts'
import { defineEndpoint } from '../../../endpoint.ts'
import { readyPage } from '../../../paging.ts'
import { flag, network, paging, text } from '../../../schemas/parameters.ts'
import { pageOf } from '../../../schemas/shapes.ts'
import { VaultListItem } from '../../../schemas/vault.ts'
import { z } from '../../../schemas/zod.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/vaults',
  summary: 'Vaults, in short, by network and address',
  query: z.object({
    network: network().optional(),
    assetSymbol: text().optional(),
    onlyTransactional: flag(),
    onlyAppFeatured: flag(),
    allowCorrupted: flag(),
    ...paging(),
  }),
  response: pageOf(VaultListItem),
  example: { query: { perPage: '5' } },
  cost: 1,
  cache: 'moment',
  handler({ query }, { catalogue, touch }) {
    const symbol = query.assetSymbol?.toLowerCase()
    touch(...(query.network ? [query.network.chainId] : catalogue.moment.chains.keys()))
    return readyPage(
      catalogue.identity,
      vault =>
        (!vault.isCorrupted || query.allowCorrupted === true) &&
        (!query.network || vault.state.chainId === query.network.chainId) &&
        (symbol === undefined || vault.asset.symbol.toLowerCase() === symbol) &&
        (!query.onlyTransactional || vault.isTransactional) &&
        (!query.onlyAppFeatured || vault.isAppFeatured),
      query,
      listedJson,
    )
  },
})
