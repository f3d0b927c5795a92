import { defineEndpoint } from '../../../http/endpoint.ts'
import { svmAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { findSvmVault } from '../../../svm/book.ts'
import { SvmDetailed } from '../../../svm/schemas.ts'
import { detailedWire } from '../../../svm/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/svm/detailed-vaults/{vaultAddress}',
  summary: 'One vault on Solana with everything known of it',
  params: z.object({ vaultAddress: svmAddress('The account of the vault: of a stake pool, the pool.') }),
  response: SvmDetailed,
  example: { params: { vaultAddress: '{svmVault}' } },
  cost: 3,
  cache: 'moment',
  face: 'svm',
  async handler({ params }, context) {
    return detailedWire(await findSvmVault(params.vaultAddress, context), context.catalogue)
  },
})
