import { defineEndpoint } from '../../../endpoint.ts'
import { NotFoundError } from '../../../errors.ts'
import { findMarket, findMarketAsset, marketAssetPath } from '../../../lending/book.ts'
import { readPositions } from '../../../lending/positions.ts'
import { assetPositionWire } from '../../../lending/wire.ts'
import { BorrowAssetPosition } from '../../../schemas/borrow.ts'
import { userAddress } from '../../../schemas/parameters.ts'
import { z } from '../../../schemas/zod.ts'

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
  async handler({ params }, context) {
    const market = await findMarket(params, context)
    const { id } = findMarketAsset(market, params.assetId)
    const [position] = await readPositions([market], params.userAddress, context)
    const asset = position?.assets.find(held => held.asset.id === id)
    if (!position || !asset) throw new NotFoundError(`Market ${market.id} has no asset ${params.assetId}.`)
    return assetPositionWire(position, asset)
  },
})
