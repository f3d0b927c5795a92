import type { Address } from 'viem'
import { findFixedTermMarket, fixedTermPath } from '../../../fixed-term/book.ts'
import { NOBODY_VOUCHES } from '../../../fixed-term/market.ts'
import { warningsOf } from '../../../fixed-term/wire.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { RefusedError } from '../../../http/errors.ts'
import { address, baseUnits, choice, flag, number, userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { attribution, suffixFor } from '../../../transactions/attribution.ts'
import { fixedTermActions } from '../../../transactions/fixed-term/family.ts'
import { BundleShape } from '../../../transactions/schemas.ts'
import { bundleOf } from '../../../transactions/wire.ts'

const DEFAULT_SLIPPAGE = 0.005
const MOST_SLIPPAGE = 0.5

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/fixed-term/transactions/{action}/{userAddress}/{network}/{vaultId}',
  summary: 'Transactions of a fixed-term market that are ready to be signed',
  description:
    'swap-in buys PT, until the expiry; swap-out sells them, and redeems them from the expiry on. The plan is run on the newest state; what that gave, less the slippage, is the minimum in the payload: a transaction that would give less reverts. Send the actions in their order, beginning with currentActionIndex. Payloads end in the attribution suffix of the API key, unless attribution is none.',
  params: z.object({
    action: choice(fixedTermActions).openapi({ description: 'What is to be done.' }),
    userAddress: userAddress(),
    ...fixedTermPath,
  }),
  query: z.object({
    assetAddress: address('The token that is spent: one that the market takes, or its PT.'),
    amount: baseUnits('Base units of assetAddress.').optional(),
    all: flag('Everything that the wallet holds of it, in place of an amount.'),
    slippage: number()
      .refine(value => value > 0 && value <= MOST_SLIPPAGE, {
        error: `must be more than 0 and at most ${MOST_SLIPPAGE}: 0.005 is half a percent`,
      })
      .optional()
      .openapi({
        type: 'number',
        default: DEFAULT_SLIPPAGE,
        description:
          'Fraction of the quote that may be lost until the transaction lands. The price moves with every second, so that 0 would always revert.',
      }),
    attribution,
    simulate: flag('With what each transaction was seen to do when it was run.'),
    allowUnlisted: flag('Needed to buy in a market of standing found, for which nobody vouches.'),
  }),
  response: BundleShape,
  example: {
    params: { action: 'swap-in', userAddress: '{user}', network: '{network}', vaultId: '{fixedTerm}' },
    query: { assetAddress: '{fixedTermAsset}', amount: '1000000' },
  },
  cost: 5,
  cache: 'none',
  face: 'fixed-term',
  async handler({ params, query }, context) {
    const market = await findFixedTermMarket(params, context)
    if (params.action === 'swap-in' && market.standing === 'found' && !query.allowUnlisted)
      throw new RefusedError(`${NOBODY_VOUCHES} With allowUnlisted=true a swap-in is prepared all the same.`)
    const bundle = await context.deps.onChain.fixedTerm.bundle({
      market,
      user: params.userAddress as Address,
      action: params.action,
      assetAddress: query.assetAddress as Address,
      amount: query.amount,
      all: query.all,
      slippage: query.slippage ?? DEFAULT_SLIPPAGE,
      simulate: query.simulate,
      suffix: suffixFor(context.key, query.attribution),
    })
    context.readAt(market.chainId, bundle.block)
    return { ...bundleOf(bundle), ...warningsOf(market) }
  },
})
