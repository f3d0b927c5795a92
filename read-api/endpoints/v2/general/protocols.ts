import { allowUnlisted } from '../../../catalogue/filter-schema.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { z } from '../../../http/zod.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/protocols',
  summary: 'Protocols of vaults',
  query: z.object({ allowUnlisted }),
  response: z.array(
    z
      .strictObject({
        name: z.string(),
        product: z.string().optional(),
        version: z.string().optional(),
        displayName: z.string().optional(),
        protocolId: z.string().optional(),
      })
      .openapi('ProtocolListItem'),
  ),
  example: {},
  cost: 1,
  cache: 'moment',
  handler(_input, { shown, leaveOut }) {
    leaveOut(shown.leftOut.length, false)
    return shown.protocols().map(({ name, product, version, displayName, protocolId }) => ({
      name,
      ...(product === undefined ? {} : { product }),
      ...(version === undefined ? {} : { version }),
      ...(displayName === undefined ? {} : { displayName }),
      ...(protocolId === undefined ? {} : { protocolId }),
    }))
  },
})
