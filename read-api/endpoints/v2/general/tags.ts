import { allowUnlisted } from '../../../catalogue/filter-schema.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { z } from '../../../http/zod.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/tags',
  summary: 'Tags that vaults carry',
  query: z.object({ allowUnlisted }),
  response: z.array(z.string()),
  example: {},
  cost: 1,
  cache: 'moment',
  handler(_input, { shown, leaveOut }) {
    leaveOut(shown.leftOut.length, false)
    return shown.tags()
  },
})
