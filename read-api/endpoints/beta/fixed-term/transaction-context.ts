import type { Address } from 'viem'
import { findFixedTermMarket, fixedTermPath } from '../../../fixed-term/book.ts'
import { FixedTermContext } from '../../../fixed-term/schemas.ts'
import { fixedTermContext } from '../../../fixed-term/wire.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { flag, userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/fixed-term/context/{userAddress}/{network}/{vaultId}',
  summary: 'How a wallet stands with a fixed-term market, and what it can do',
  description: 'Balances, the tokens that are taken and the one that is given, all of one block.',
  params: z.object({ userAddress: userAddress(), ...fixedTermPath }),
  query: z.object({
    allowUnlisted: flag('Makes actionsUrl of a swap-in ask for a market of standing found.'),
  }),
  response: FixedTermContext,
  example: { params: { userAddress: '{user}', network: '{network}', vaultId: '{fixedTerm}' } },
  cost: 3,
  cache: 'none',
  face: 'fixed-term',
  async handler({ params, query }, context) {
    const market = await findFixedTermMarket(params, context)
    const user = params.userAddress as Address
    const standing = await context.deps.onChain.fixedTerm.look(market, user)
    context.readAt(market.chainId, standing.block.number)
    return fixedTermContext(market, user, standing, { allowUnlisted: query.allowUnlisted === true })
  },
})
