import { defineEndpoint } from '../../../http/endpoint.ts'
import { findMarket, marketParams } from '../../../lending/book.ts'
import { Market } from '../../../lending/schemas.ts'
import { marketWire } from '../../../lending/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/borrow/markets/{network}/{marketId}',
  summary: 'One lending market',
  params: marketParams,
  response: Market,
  example: { params: { network: '{network}', marketId: '{market}' } },
  cost: 3,
  cache: 'moment',
  face: 'lending',
  async handler({ params }, context) {
    return marketWire(await findMarket(params, context))
  },
})
