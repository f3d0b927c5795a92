import type { Address } from 'viem'
import { isVouchedFor } from '../../../catalogue/vault-state.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { RefusedError } from '../../../http/errors.ts'
import { baseUnits, choice, flag, userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { findMarket, findMarketAsset, marketAssetPath } from '../../../lending/book.ts'
import { NOBODY_VOUCHES } from '../../../lending/standing.ts'
import { marketWarning } from '../../../lending/wire.ts'
import { attribution, suffixFor } from '../../../transactions/attribution.ts'
import { borrowActions } from '../../../transactions/borrow/family.ts'
import { BundleShape } from '../../../transactions/schemas.ts'
import { bundleOf } from '../../../transactions/wire.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/borrow/markets/transactions/{action}/{userAddress}/{network}/{marketId}/{assetId}',
  summary: 'Transactions of a lending market that are ready to be signed',
  description:
    'Send the actions in their order, beginning with currentActionIndex. They have been run on the newest state: what would revert is refused with 422 and the reason, what goes beyond a limit with the limit. all=true supplies the whole wallet, withdraws or repays everything to the unit whatever interest accrues until it lands, and borrows as much as limits.maxBorrow says, which is close to liquidation. Payloads end in the attribution suffix of the API key, unless attribution is none.',
  params: z.object({
    action: choice(borrowActions).openapi({ description: 'What is to be done.' }),
    userAddress: userAddress(),
    ...marketAssetPath,
  }),
  query: z.object({
    amount: baseUnits('Base units of the asset.').optional(),
    all: flag('Everything there is, in place of an amount.'),
    attribution,
    simulate: flag('With what each transaction was seen to do when it was run.'),
    allowUnlisted: flag('Needed to supply to a market of standing found, for which nobody vouches.'),
  }),
  response: BundleShape,
  example: {
    params: {
      action: 'supply',
      userAddress: '{user}',
      network: '{network}',
      marketId: '{market}',
      assetId: '{marketAsset}',
    },
    query: { amount: '1000000' },
  },
  cost: 5,
  cache: 'none',
  face: 'lending',
  async handler({ params, query }, context) {
    const market = await findMarket(params, context)
    const asset = findMarketAsset(market, params.assetId)
    if (params.action === 'supply' && !isVouchedFor(market) && !query.allowUnlisted)
      throw new RefusedError(`${NOBODY_VOUCHES} With allowUnlisted=true a supply is prepared all the same.`)
    const bundle = await context.deps.onChain.borrowing.bundle({
      market,
      asset,
      user: params.userAddress as Address,
      action: params.action,
      amount: query.amount,
      all: query.all,
      simulate: query.simulate,
      suffix: suffixFor(context.key, query.attribution),
    })
    context.readAt(market.chainId, bundle.block)
    return { ...bundleOf(bundle), ...marketWarning(market) }
  },
})
