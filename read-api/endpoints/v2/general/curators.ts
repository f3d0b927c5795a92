import { defineEndpoint } from '../../../endpoint.ts'
import { CuratorShape } from '../../../schemas/shapes.ts'
import { z } from '../../../schemas/zod.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/curators',
  summary: 'Curators of vaults',
  response: z.array(CuratorShape),
  example: {},
  cost: 1,
  cache: 'moment',
  handler: (_input, { catalogue }) => catalogue.curators(),
})
