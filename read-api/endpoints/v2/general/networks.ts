import { networkIds } from '../../../../db/networks.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { NetworkShape } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/networks',
  summary: 'All networks',
  response: z.array(NetworkShape),
  example: {},
  cost: 1,
  cache: 'static',
  handler: () => [...networkIds],
})
