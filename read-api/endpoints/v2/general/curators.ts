import { allowUnlisted } from '../../../catalogue/filter-schema.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { CuratorShape } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'

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
