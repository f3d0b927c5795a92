import { defineEndpoint } from '../../../http/endpoint.ts'
import { z } from '../../../http/zod.ts'
import { svmVaultsOf } from '../../../svm/book.ts'
import { SvmVaultShape } from '../../../svm/schemas.ts'
import { allowUnlisted, narrowed, sorted } from '../../../svm/select.ts'
import { vaultWire } from '../../../svm/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/svm/vaults',
  summary: 'Vaults on Solana, in short, the largest first',
  query: z.object({ allowUnlisted }),
  response: z.array(SvmVaultShape),
  example: {},
  cost: 1,
  cache: 'moment',
  face: 'svm',
  async handler(_, context) {
    const { catalogue, shown } = context
    const { kept, leftOut } = narrowed(await svmVaultsOf(context), {}, catalogue, shown.withUnlisted)
    context.leaveOut(leftOut.length, false)
    return sorted(kept, 'tvl', 'desc').map(vault => vaultWire(vault, catalogue))
  },
})
