import { defineEndpoint } from '../../../endpoint.ts'
import { allowUnlisted } from '../../../schemas/filter.ts'
import { z } from '../../../schemas/zod.ts'

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
