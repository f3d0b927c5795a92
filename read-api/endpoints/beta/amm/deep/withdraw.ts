import type { Address } from 'viem'
import { ammPath, findAmmVault } from '../../../../amm/book.ts'
import { bundleWarnings } from '../../../../amm/wire.ts'
import { defineEndpoint } from '../../../../http/endpoint.ts'
import { baseUnits, flag, userAddress } from '../../../../http/parameters.ts'
import { z } from '../../../../http/zod.ts'
import { attribution, suffixFor } from '../../../../transactions/attribution.ts'
import { BundleShape } from '../../../../transactions/schemas.ts'
import { bundleOf } from '../../../../transactions/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/amm/deep/withdraw/{userAddress}/{network}/{vaultId}',
  summary: 'Transactions that withdraw from a vault of concentrated liquidity, ready to be signed',
  description:
    "What comes out is a part of both tokens, at the pool's price of that moment. By the protocol's guard, where there is one, the plan is run on the newest state, and what it gave of each, less half a percent, is the minimum in the payload. Without a guard nothing holds it to an amount: the simulation says what it would give now, and a warning that a trade before it may change that. Payloads end in the attribution suffix of the API key, unless attribution is none.",
  params: z.object({ userAddress: userAddress(), ...ammPath }),
  query: z.object({
    amount: baseUnits('Shares, base units.').optional(),
    all: flag('All shares of the wallet, in place of an amount.'),
    attribution,
    simulate: flag('With what each transaction was seen to do when it was run.'),
  }),
  response: BundleShape,
  example: {
    params: { userAddress: '{user}', network: '{network}', vaultId: '{ammVault}' },
    query: { all: 'true' },
  },
  cost: 5,
  cache: 'none',
  face: 'amm',
  async handler({ params, query }, context) {
    const vault = await findAmmVault(params, context)
    const bundle = await context.deps.onChain.amm.withdraw({
      vault,
      user: params.userAddress as Address,
      amount: query.amount,
      all: query.all,
      simulate: query.simulate,
      suffix: suffixFor(context.key, query.attribution),
    })
    context.readAt(vault.chainId, bundle.block)
    return { ...bundleOf(bundle), ...bundleWarnings(vault, bundle) }
  },
})
