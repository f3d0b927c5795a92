import { defineEndpoint } from '../../../http/endpoint.ts'
import { NotFoundError } from '../../../http/errors.ts'
import { userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { findMarket, findMarketAsset, marketAssetPath } from '../../../lending/book.ts'
import { mainPosition, readWallet } from '../../../lending/positions.ts'
import { BorrowAssetPosition } from '../../../lending/schemas.ts'
import { assetPositionWire } from '../../../lending/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/borrow/portfolio/positions/{userAddress}/{network}/{marketId}/{assetId}',
  summary: 'What a wallet has supplied and borrowed of one asset of a market',
  params: z.object({ userAddress: userAddress(), ...marketAssetPath }),
  response: BorrowAssetPosition,
  example: {
    params: {
      userAddress: '{user}',
      network: '{network}',
      marketId: '{market}',
      assetId: '{marketAsset}',
    },
  },
  cost: 1,
  cache: 'moment',
  face: 'lending',
  async handler({ params }, context) {
    const market = await findMarket(params, context)
    const { id } = findMarketAsset(market, params.assetId)
    const shown = mainPosition(await readWallet([market], params.userAddress, context))
    const asset = shown?.position.assets.find(held => held.asset.id === id)
    if (!shown || !asset) throw new NotFoundError(`Market ${market.id} has no asset ${params.assetId}.`)
    return assetPositionWire(shown.position, asset, shown.others)
  },
})
