import { defineEndpoint } from '../../../endpoint.ts'
import { z } from '../../../schemas/zod.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/tags',
  summary: 'Tags that vaults carry',
  response: z.array(z.string()),
  example: {},
  cost: 1,
  cache: 'moment',
  handler: (_input, { catalogue }) => catalogue.tags(),
})
