import type { Address } from 'viem'
import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { standingWarning } from '../../../catalogue/wire.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { RefusedError } from '../../../http/errors.ts'
import { address, baseUnits, choice, flag, userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { attribution, suffixFor } from '../../../transactions/attribution.ts'
import { type ActionName, cancelNames, stepNames } from '../../../transactions/family.ts'
import { BundleShape } from '../../../transactions/schemas.ts'
import { bundleOf } from '../../../transactions/wire.ts'

/** Steps that give something to the vault; to get back what one has is never barred. */
const pays = new Set<ActionName>(['deposit', 'request-deposit'])

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/transactions/{action}/{userAddress}/{network}/{vaultId}',
  summary: 'Transactions that are ready to be signed',
  description:
    "Send the actions in their order, beginning with currentActionIndex. They have been run on the newest state: what would revert, or give nothing, is refused with 422 and the reason; so is a deposit into a vault for which nobody vouches, unless allowUnlisted. assetAddress says what amount is an amount of: the vault's asset, its share token, or 0xeeee…eeee for the chain's own coin where the vault takes its wrapped form. Wrapped coins that the wallet holds are spent first, and only what is missing is wrapped: so a bundle asked for again after its wrap goes on with the next action. Payloads end in the attribution suffix of the API key, unless attribution is none.",
  params: vaultParams.extend({
    action: choice([...stepNames, ...cancelNames]).openapi({
      description: 'What is to be done; the context of the vault names those it takes.',
    }),
    userAddress: userAddress(),
  }),
  query: z.object({
    assetAddress: address(
      "What amount is an amount of: the vault's asset, its share token, or 0xeeee…eeee for the chain's own coin.",
    ),
    amount: baseUnits('Base units of assetAddress.').optional(),
    all: flag('Everything there is, in place of an amount.'),
    attribution,
    simulate: flag('With what each transaction was seen to do when it was run.'),
    allowUnlisted: flag('Needed to deposit into a vault of standing found, for which nobody vouches.'),
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
    if (vault.standing === 'found' && pays.has(params.action) && !query.allowUnlisted) {
      throw new RefusedError(
        `Nobody vouches for this vault: it was found by its shape, which anybody can give a contract. With allowUnlisted=true a ${params.action} is prepared all the same.`,
      )
    }
    const bundle = await onChain.preparer.bundle({
      vault: onChain.refOf(vault),
      user: params.userAddress as Address,
      action: params.action,
      assetAddress: query.assetAddress as Address,
      amount: query.amount,
      all: query.all,
      simulate: query.simulate,
      suffix: suffixFor(context.key, query.attribution),
    })
    context.readAt(vault.network.chainId, bundle.block)
    return { ...bundleOf(bundle), ...standingWarning(vault) }
  },
})
