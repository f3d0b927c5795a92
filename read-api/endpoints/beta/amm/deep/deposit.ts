import type { Address } from 'viem'
import { ammPath, findAmmVault } from '../../../../amm/book.ts'
import { NOBODY_VOUCHES } from '../../../../amm/vault.ts'
import { bundleWarnings } from '../../../../amm/wire.ts'
import { defineEndpoint } from '../../../../http/endpoint.ts'
import { RefusedError } from '../../../../http/errors.ts'
import { address, baseUnits, flag, userAddress } from '../../../../http/parameters.ts'
import { z } from '../../../../http/zod.ts'
import { attribution, suffixFor } from '../../../../transactions/attribution.ts'
import { BundleShape } from '../../../../transactions/schemas.ts'
import { bundleOf } from '../../../../transactions/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/amm/deep/deposit/{userAddress}/{network}/{vaultId}',
  summary: 'Transactions that deposit into a vault of concentrated liquidity, ready to be signed',
  description:
    "A vault takes one of its two tokens, or both: takes says which. One token goes by the protocol's guard, where there is one: the plan is run on the newest state, and the shares that it gave, less half a percent, are the minimum in the payload. Without a guard, and for two tokens at once, the vault's own check of the price is all there is, and a warning says so. Send the actions in their order, beginning with currentActionIndex. Payloads end in the attribution suffix of the API key, unless attribution is none.",
  params: z.object({ userAddress: userAddress(), ...ammPath }),
  query: z.object({
    assetAddress0: address('A token that the vault takes, whichever of the two it is.'),
    amount0: baseUnits('Base units of assetAddress0.'),
    assetAddress1: address('The other one, where the vault takes both.').optional(),
    amount1: baseUnits('Base units of assetAddress1.').optional(),
    attribution,
    simulate: flag('With what each transaction was seen to do when it was run.'),
    allowUnlisted: flag('Needed for a vault of standing found, for which nobody vouches.'),
  }),
  response: BundleShape,
  example: {
    params: { userAddress: '{user}', network: '{network}', vaultId: '{ammVault}' },
    query: { assetAddress0: '{ammAsset}', amount0: '1000000' },
  },
  cost: 5,
  cache: 'none',
  face: 'amm',
  async handler({ params, query }, context) {
    const vault = await findAmmVault(params, context)
    if (vault.standing === 'found' && !query.allowUnlisted)
      throw new RefusedError(`${NOBODY_VOUCHES} With allowUnlisted=true a deposit is prepared all the same.`)
    const bundle = await context.deps.onChain.amm.deposit({
      vault,
      user: params.userAddress as Address,
      assetAddress0: query.assetAddress0,
      amount0: query.amount0,
      assetAddress1: query.assetAddress1,
      amount1: query.amount1,
      simulate: query.simulate,
      suffix: suffixFor(context.key, query.attribution),
    })
    context.readAt(vault.chainId, bundle.block)
    return { ...bundleOf(bundle), ...bundleWarnings(vault, bundle) }
  },
})
