import { checksum } from '../../../http/amounts.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { findMarket, findMarketAsset, marketAssetPath } from '../../../lending/book.ts'
import { readEvents } from '../../../lending/events.ts'
import { BorrowEvents } from '../../../lending/schemas.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/borrow/portfolio/events/{userAddress}/{network}/{marketId}/{assetId}',
  summary: 'What a wallet did with one asset of a market, oldest first',
  description:
    'Liquidations are those of the wallet itself: of the debt repaid, or of the collateral taken. A transfer of a position (of aTokens, vault shares, a Comet balance, a debt that another account took over) is no event. Of Euler what the wallet did by its sub-accounts is among it.',
  params: z.object({ userAddress: userAddress(), ...marketAssetPath }),
  response: BorrowEvents,
  table: 'data',
  example: {
    params: {
      userAddress: '{user}',
      network: '{network}',
      marketId: '{market}',
      assetId: '{marketAsset}',
    },
  },
  cost: 3,
  cache: 'moment',
  face: 'lending',
  async handler({ params }, context) {
    const market = await findMarket(params, context)
    const asset = findMarketAsset(market, params.assetId)
    const rows = await readEvents(market, asset, params.userAddress, context)
    return {
      asset: asset.info.wire,
      items: rows.length,
      data: rows.map(row => ({
        timestamp: row.at,
        blockNumber: String(row.block_number),
        eventType: row.event_type,
        assetAmountNative: row.assets,
        transactionHash: row.tx_hash,
        logIndex: row.log_index,
        ...(row.account === params.userAddress ? {} : { subAccount: checksum(row.account) }),
      })),
    }
  },
})
