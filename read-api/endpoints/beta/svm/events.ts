import { defineEndpoint } from '../../../http/endpoint.ts'
import { svmAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { svmEventsOf } from '../../../svm/portfolio.ts'
import { SvmEvents } from '../../../svm/schemas.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/svm/portfolio/events/{userAddress}',
  summary: 'Deposits and withdrawals of a wallet in all vaults on Solana, oldest first',
  description:
    'By owner of the shares, whoever paid or received the assets. A plain transfer of shares is no event.',
  params: z.object({ userAddress: svmAddress('The wallet.') }),
  response: SvmEvents,
  example: { params: { userAddress: '{svmUser}' } },
  cost: 3,
  cache: 'moment',
  face: 'svm',
  handler: ({ params }, context) => svmEventsOf(params.userAddress, context),
})
