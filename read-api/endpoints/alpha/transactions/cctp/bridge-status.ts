import type { Hex } from 'viem'
import { domainOfChain } from '../../../../../abi/cctp-v2/domains.ts'
import { defineEndpoint } from '../../../../http/endpoint.ts'
import { RefusedError } from '../../../../http/errors.ts'
import { hash, network } from '../../../../http/parameters.ts'
import { z } from '../../../../http/zod.ts'
import { TransitShape } from '../../../../protocols/cctp-v2/schemas.ts'
import { transitOf } from '../../../../protocols/cctp-v2/transit.ts'

export default defineEndpoint({
  tier: 'alpha',
  method: 'get',
  path: '/transactions/cctp/status',
  summary: 'How far a transfer of USDC between two chains is',
  description:
    'Of the transaction that burnt it, the first where there were several. A transfer that was claimed stays ready. 404 where neither the chain nor the service that attests knows of a burn in it, 422 where it failed.',
  query: z.object({ burnTxHash: hash('The transaction that burnt it.'), srcNetwork: network() }),
  response: TransitShape,
  example: { query: { burnTxHash: '{burn}', srcNetwork: '{network}' } },
  cost: 3,
  cache: 'none',
  face: 'bridge',
  async handler({ query }, context) {
    const source = domainOfChain(query.srcNetwork.chainId)
    if (!source) throw new RefusedError(`The bridge does not reach ${query.srcNetwork.name}.`)
    return transitOf(await context.deps.onChain.bridge.status(query.burnTxHash as Hex, source, context))
  },
})
