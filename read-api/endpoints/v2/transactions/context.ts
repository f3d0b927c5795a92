import type { Address } from 'viem'
import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { standingWarning } from '../../../catalogue/wire.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { flag, userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { ContextShape } from '../../../transactions/schemas.ts'
import { contextOf, rewardAssetOf } from '../../../transactions/wire.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/transactions/context/{userAddress}/{network}/{vaultId}',
  summary: 'How a wallet stands with a vault, and what it can do',
  description:
    'Balances, limits, the steps of a deposit and of a redemption and which of them comes next, pending requests and rewards, all of one block. An actionsUrl wants amount or all=true added where its step needs an amount. Requests that an asynchronous vault lets its users take back have steps in vaultSpecificData.cancelSteps.',
  params: vaultParams.extend({ userAddress: userAddress() }),
  query: z.object({
    allowUnlisted: flag('Makes actionsUrl of deposits ask for a vault of standing found.'),
  }),
  response: ContextShape,
  example: { params: { userAddress: '{user}', network: '{network}', vaultId: '{vault}' } },
  cost: 3,
  cache: 'none',
  async handler({ params, query }, context) {
    const { vault } = findVault(params, context)
    const { onChain } = context.deps
    const user = params.userAddress as Address
    const standing = await onChain.preparer.look(onChain.refOf(vault), user, true)
    const rewards = await Promise.all(
      (standing.rewards ?? []).map(async ({ token, amount }) => ({
        amount,
        asset: rewardAssetOf(
          context.catalogue,
          vault.network,
          await onChain.tokenOf(vault.network.name, token),
        ),
      })),
    )
    context.readAt(vault.network.chainId, standing.block.number)
    return { ...contextOf(vault, user, standing, rewards, query), ...standingWarning(vault) }
  },
})
