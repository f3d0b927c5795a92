import { defineEndpoint } from '../../../../http/endpoint.ts'
import { userAddress } from '../../../../http/parameters.ts'
import { z } from '../../../../http/zod.ts'
import { TransitShape } from '../../../../protocols/cctp-v2/schemas.ts'
import { transitOf } from '../../../../protocols/cctp-v2/transit.ts'

export default defineEndpoint({
  tier: 'alpha',
  method: 'get',
  path: '/transactions/cctp/money-in-transit/{userAddress}',
  summary: 'USDC of a wallet, or for it, that is between two chains',
  description:
    'Transfers that left a chain and have not arrived, the newest first, 500 at most; none ever times out. How many there are follows from the chains alone. Of equal transfers the oldest count as received first where it is not known which was. One to a chain that is not indexed here stays listed until its own nonce is seen to be used. message and attestation come from the service that attests, and are absent until it has them.',
  params: z.object({ userAddress: userAddress() }),
  response: z.strictObject({ data: z.array(TransitShape) }),
  example: { params: { userAddress: '{user}' } },
  cost: 3,
  cache: 'none',
  face: 'bridge',
  async handler({ params }, context) {
    const transfers = await context.deps.onChain.bridge.moneyInTransit(params.userAddress, context)
    return { data: transfers.map(transitOf) }
  },
})
