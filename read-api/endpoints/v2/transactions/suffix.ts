import { attributionSuffix } from '../../../../db/attribution.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { MissingKeyError } from '../../../http/errors.ts'
import { userAddress, vaultId } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/transactions/suffix/{userAddress}/{vaultId}',
  summary: 'What marks calldata as prepared for this API key',
  description:
    'Hex without 0x, to be appended to calldata. ERC-8021, schema 0: the public code of the key and our own (ASCII, joined by a comma), their length in one byte, 00, and the marker 8021 eight times. A contract ignores what follows its arguments. Payloads of the other endpoints end in it already.',
  params: z.object({ userAddress: userAddress(), vaultId: vaultId() }),
  response: z.strictObject({ suffix: z.string().regex(/^[0-9a-f]+$/) }),
  example: { params: { userAddress: '{user}', vaultId: '{vault}' } },
  cost: 1,
  payable: false,
  cache: 'none',
  handler(_, { key }) {
    if (!key) throw new MissingKeyError('The suffix is that of an API key.')
    return { suffix: attributionSuffix(key.code).slice(2) }
  },
})
