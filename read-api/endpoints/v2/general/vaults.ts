import { assetNames, unsupportedNames } from '../../../catalogue/filter.ts'
import { vaultFilter } from '../../../catalogue/filter-schema.ts'
import type { Vault } from '../../../catalogue/vault.ts'
import { listedJson } from '../../../catalogue/wire.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { readyPage } from '../../../http/paging.ts'
import { network, paging, text } from '../../../http/parameters.ts'
import { pageOf, Unsupported } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { VaultListItem } from '../../../vaults/schemas.ts'

/** A name that nobody knows, where there is one: the list is empty because of it. */
const saidIfAny = (errors: ReturnType<typeof unsupportedNames>) =>
  Object.values(errors).some(names => names.length > 0) ? `,"errors":${JSON.stringify(errors)}` : ''

const { onlyTransactional, onlyAppFeatured, allowCorrupted, allowUnlisted } = vaultFilter

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/vaults',
  summary: 'Vaults, in short, by network and address',
  query: z.object({
    network: network().optional(),
    assetSymbol: text({
      description: 'Symbol, address or CAIP-19 identifier of the asset, in any case.',
      example: 'USDC',
    }).optional(),
    onlyTransactional,
    onlyAppFeatured,
    allowCorrupted,
    allowUnlisted,
    ...paging(),
  }),
  response: pageOf(VaultListItem).extend({ errors: Unsupported.optional() }),
  example: { query: { perPage: '5' } },
  cost: 1,
  cache: 'moment',
  handler({ query }, { catalogue, shown, touch, leaveOut }) {
    const isAsset = query.assetSymbol === undefined ? undefined : assetNames([query.assetSymbol], shown)
    touch(...(query.network ? [query.network.chainId] : catalogue.moment.chains.keys()))
    const passes = (vault: Vault) =>
      (!vault.isCorrupted || query.allowCorrupted === true) &&
      (!query.network || vault.state.chainId === query.network.chainId) &&
      (!isAsset || isAsset(vault.asset)) &&
      (!query.onlyTransactional || vault.isTransactional) &&
      (!query.onlyAppFeatured || vault.isAppFeatured)
    const named = {
      ...(query.network ? { allowedNetworks: [query.network.name] } : {}),
      ...(query.assetSymbol ? { allowedAssets: [query.assetSymbol] } : {}),
    }
    const errors = saidIfAny(unsupportedNames(named, shown))
    const page = readyPage(shown.vaults, passes, query, listedJson, errors)
    leaveOut(shown.leftOut.filter(passes).length, page.items === 0 && query.page === 0)
    return page
  },
})
