import { findFixedTermMarket, fixedTermParams } from '../../../fixed-term/book.ts'
import { FixedTerm } from '../../../fixed-term/schemas.ts'
import { fixedTermWire } from '../../../fixed-term/wire.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/fixed-term/detailed/{network}/{vaultId}',
  summary: 'One fixed-term market, also after it has ended',
  params: fixedTermParams,
  response: FixedTerm,
  example: { params: { network: '{network}', vaultId: '{fixedTerm}' } },
  cost: 3,
  cache: 'moment',
  face: 'fixed-term',
  async handler({ params }, context) {
    return fixedTermWire(await findFixedTermMarket(params, context))
  },
})
