import { SOLANA } from '../../../../db/streams.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { flag, svmAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { findSvmVault, svmFamilyOf } from '../../../svm/book.ts'
import { SvmContext } from '../../../svm/schemas.ts'
import { contextWire } from '../../../svm/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/svm/transactions/context/{userAddress}/{vaultAddress}',
  summary: 'How a wallet stands with a vault on Solana, and what it can do',
  description:
    'Read from a node, all of one slot. Shares that are staked in the farm of the vault count where they can be taken out at once. Where a step is missing, warnings says why it cannot be done.',
  params: z.object({ userAddress: svmAddress('The wallet.'), vaultAddress: svmAddress('The vault.') }),
  query: z.object({
    allowUnlisted: flag('Makes actionsUrl of a deposit ask for a vault of standing found.'),
  }),
  response: SvmContext,
  example: { params: { userAddress: '{svmUser}', vaultAddress: '{svmVault}' } },
  cost: 3,
  cache: 'none',
  face: 'svm',
  async handler({ params, query }, context) {
    const vault = await findSvmVault(params.vaultAddress, context)
    const look = await svmFamilyOf(vault).look(context.deps.solana, vault, params.userAddress)
    context.readAt(SOLANA.id, look.slot)
    return contextWire(vault, params.userAddress, look, query.allowUnlisted === true)
  },
})
