import type { Address } from 'viem'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { findMarket, findMarketAsset, marketAssetPath } from '../../../lending/book.ts'
import { BorrowContext } from '../../../lending/schemas.ts'
import { borrowContextOf } from '../../../transactions/borrow/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/borrow/markets/transactions/context/{userAddress}/{network}/{marketId}/{assetId}',
  summary: 'How a wallet stands with an asset of a lending market, and what it can do',
  description:
    'Balances, limits and the steps of each action, all of one block. An actionsUrl wants amount or all=true added. The actions of a step come in their order; a bundle leaves out none that is still to be done.',
  params: z.object({ userAddress: userAddress(), ...marketAssetPath }),
  response: BorrowContext,
  example: {
    params: {
      userAddress: '{user}',
      network: '{network}',
      marketId: '{market}',
      assetId: '{marketAsset}',
    },
  },
  cost: 3,
  cache: 'none',
  async handler({ params }, context) {
    const market = await findMarket(params, context)
    const asset = findMarketAsset(market, params.assetId)
    const user = params.userAddress as Address
    const standing = await context.deps.onChain.borrowing.look(market, asset, user)
    context.readAt(market.chainId, standing.block.number)
    return borrowContextOf(market, asset, user, standing)
  },
})
