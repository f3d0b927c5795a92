import type { Address } from 'viem'
import { networkIds } from '../../../../db/networks.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { flag, list, userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { attribution, suffixFor } from '../../../transactions/attribution.ts'
import { MOST_CLAIMS, RewardsClaimShape } from '../../../transactions/schemas.ts'
import { bundleOf } from '../../../transactions/wire.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/transactions/rewards/claim/{userAddress}',
  summary: 'Transactions that claim rewards',
  description: 'A bundle for each network; networks without a claim have an empty one.',
  params: z.object({ userAddress: userAddress() }),
  query: z.object({
    claimIds: list({ description: 'From the rewards context. An empty list claims nothing.' }).refine(
      ids => ids.length <= MOST_CLAIMS,
      {
        error: `must be ${MOST_CLAIMS} identifiers at most`,
      },
    ),
    attribution,
    simulate: flag('With what each transaction was seen to do when it was run.'),
  }),
  response: RewardsClaimShape,
  example: { params: { userAddress: '{user}' }, query: { claimIds: '' } },
  cost: 5,
  cache: 'none',
  async handler({ params, query }, { deps, key }) {
    const suffix = suffixFor(key, query.attribution)
    const bundles =
      query.claimIds.length === 0
        ? {}
        : await deps.onChain.rewards.claim(params.userAddress as Address, query.claimIds, {
            suffix,
            simulate: query.simulate,
          })
    return Object.fromEntries(
      networkIds.map(({ name }) => {
        const bundle = (bundles as Record<string, Parameters<typeof bundleOf>[0] | undefined>)[name]
        return [name, bundle ? bundleOf(bundle) : { currentActionIndex: 0, actions: [] }]
      }),
    )
  },
})
