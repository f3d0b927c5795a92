import { defineEndpoint } from '../../../endpoint.ts'
import { allowUnlisted } from '../../../schemas/filter.ts'
import { CuratorShape } from '../../../schemas/shapes.ts'
import { z } from '../../../schemas/zod.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/curators',
  summary: 'Curators of vaults',
  query: z.object({ allowUnlisted }),
  response: z.array(CuratorShape),
  example: {},
  cost: 1,
  cache: 'moment',
  handler(_input, { shown, leaveOut }) {
    leaveOut(shown.leftOut.length, false)
    return shown.curators()
  },
})
