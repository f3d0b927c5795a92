import { defineEndpoint } from '../../../http/endpoint.ts'
import { z } from '../../../http/zod.ts'
import { findMarket, findMarketAsset, marketAssetPath } from '../../../lending/book.ts'
import { MarketPoint } from '../../../lending/schemas.ts'
import { readMarketNow } from '../../../nrt/read-market.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/borrow/markets/nrt/{network}/{marketId}/{assetId}',
  summary: 'What a lending market says of an asset on chain now',
  description:
    'All figures are of one block, which the header x-as-of-block names, with the interest up to it; it is no older than the time between two blocks. Where the contracts keep no figures of an asset (the collateral of a Morpho Blue market) they are those of the index, and the block is its block.',
  params: z.object(marketAssetPath),
  response: MarketPoint,
  example: { params: { network: '{network}', marketId: '{market}', assetId: '{marketAsset}' } },
  cost: 1,
  cache: 'none',
  face: 'lending',
  async handler({ params }, context) {
    const market = await findMarket(params, context)
    return readMarketNow(market, findMarketAsset(market, params.assetId), context)
  },
})
