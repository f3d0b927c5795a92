import { networkIds } from '../../../../db/networks.ts'
import { defineEndpoint } from '../../../endpoint.ts'
import { NetworkShape } from '../../../schemas/shapes.ts'
import { z } from '../../../schemas/zod.ts'

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
