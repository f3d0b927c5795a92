import { defineEndpoint } from '../../../http/endpoint.ts'
import { svmAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { findSvmVault } from '../../../svm/book.ts'
import { svmEventsOf } from '../../../svm/portfolio.ts'
import { SvmEvents } from '../../../svm/schemas.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/svm/portfolio/events/{userAddress}/{vaultAddress}',
  summary: 'Deposits and withdrawals of a wallet in one vault on Solana, oldest first',
  description:
    'By owner of the shares, whoever paid or received the assets. A plain transfer of shares is no event.',
  params: z.object({ userAddress: svmAddress('The wallet.'), vaultAddress: svmAddress('The vault.') }),
  response: SvmEvents,
  example: { params: { userAddress: '{svmUser}', vaultAddress: '{svmVault}' } },
  cost: 3,
  cache: 'moment',
  face: 'svm',
  async handler({ params }, context) {
    const vault = await findSvmVault(params.vaultAddress, context)
    return svmEventsOf(params.userAddress, context, vault)
  },
})
