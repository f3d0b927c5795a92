import type { Address } from 'viem'
import { checksum } from '../../../http/amounts.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { flag, userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { findMarket, findMarketAsset, marketAssetPath } from '../../../lending/book.ts'
import { readWallet } from '../../../lending/positions.ts'
import { BorrowContext } from '../../../lending/schemas.ts'
import { marketWarning } from '../../../lending/wire.ts'
import { borrowContextOf } from '../../../transactions/borrow/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/borrow/markets/transactions/context/{userAddress}/{network}/{marketId}/{assetId}',
  summary: 'How a wallet stands with an asset of a lending market, and what it can do',
  description:
    'Balances, limits and the steps of each action, all of one block. An actionsUrl wants amount or all=true added. The actions of a step come in their order; a bundle leaves out none that is still to be done.',
  params: z.object({ userAddress: userAddress(), ...marketAssetPath }),
  query: z.object({
    allowUnlisted: flag('Makes actionsUrl of a supply ask for a market of standing found.'),
  }),
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
  face: 'lending',
  async handler({ params, query }, context) {
    const market = await findMarket(params, context)
    const asset = findMarketAsset(market, params.assetId)
    const user = params.userAddress as Address
    const standing = await context.deps.onChain.borrowing.look(market, asset, user)
    context.readAt(market.chainId, standing.block.number)
    const positions = await readWallet([market], params.userAddress, context)
    const subAccounts = positions.flatMap(({ account, assets }) => {
      const of = account === params.userAddress ? undefined : assets.find(held => held.asset.id === asset.id)
      if (!of || (of.supplied === 0n && of.borrowed === 0n)) return []
      return [{ subAccount: checksum(account), supplied: `${of.supplied}`, borrowed: `${of.borrowed}` }]
    })
    return {
      ...borrowContextOf(market, asset, user, standing, query),
      ...(subAccounts.length > 0 ? { subAccounts } : {}),
      ...marketWarning(market),
    }
  },
})
