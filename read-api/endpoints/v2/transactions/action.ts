import type { Address } from 'viem'
import { attributionSuffix } from '../../../../db/attribution.ts'
import { defineEndpoint } from '../../../endpoint.ts'
import { findVault, vaultParams } from '../../../find-vault.ts'
import { address, baseUnits, choice, flag } from '../../../schemas/parameters.ts'
import { BundleShape } from '../../../schemas/transactions.ts'
import { z } from '../../../schemas/zod.ts'
import { cancelNames, stepNames } from '../../../transactions/family.ts'
import { bundleOf } from '../../../transactions/wire.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/transactions/{action}/{userAddress}/{network}/{vaultId}',
  summary: 'Transactions that are ready to be signed',
  description:
    "Send the actions in their order, beginning with currentActionIndex. They have been run on the newest state: what would revert, or give nothing, is refused with 422 and the reason. assetAddress says what amount is an amount of: the vault's asset, its share token, or 0xeeee…eeee for the chain's own coin where the vault takes its wrapped form. Wrapped coins that the wallet holds are spent first, and only what is missing is wrapped: so a bundle asked for again after its wrap goes on with the next action. Payloads end in the attribution suffix of the API key.",
  params: vaultParams.extend({ action: choice([...stepNames, ...cancelNames]), userAddress: address() }),
  query: z.object({
    assetAddress: address(),
    amount: baseUnits('Base units of assetAddress.').optional(),
    all: flag(),
    simulate: flag(),
  }),
  response: BundleShape,
  example: {
    params: { action: 'deposit', userAddress: '{user}', network: '{network}', vaultId: '{vault}' },
    query: { assetAddress: '{asset}', amount: '1000000' },
  },
  cost: 5,
  cache: 'none',
  async handler({ params, query }, context) {
    const { vault } = findVault(params, context)
    const { onChain } = context.deps
    const bundle = await onChain.preparer.bundle({
      vault: onChain.refOf(vault),
      user: params.userAddress as Address,
      action: params.action,
      assetAddress: query.assetAddress as Address,
      amount: query.amount,
      all: query.all,
      simulate: query.simulate,
      suffix: context.key ? attributionSuffix(context.key.code) : undefined,
    })
    context.readAt(vault.network.chainId, bundle.block)
    return bundleOf(bundle)
  },
})
