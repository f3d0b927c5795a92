import type { Address } from 'viem'
import { findNetwork, networkIds } from '../../../../db/networks.ts'
import { protocolName } from '../../../../db/protocols.ts'
import { checksum, decimalString, toWhole } from '../../../http/amounts.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { userAddress } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { MOST_CLAIMS, RewardsContextShape } from '../../../transactions/schemas.ts'
import { rewardAssetOf } from '../../../transactions/wire.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/transactions/rewards/context/{userAddress}',
  summary: 'Rewards that a wallet can claim, on all networks',
  description:
    'Only what a claim sent now would pay: proofs are checked against the root that the distributor holds. A claimId stays the same for the same source, distributor and token. Sources that do not answer are named in errors.',
  params: z.object({ userAddress: userAddress() }),
  response: RewardsContextShape,
  example: { params: { userAddress: '{user}' } },
  cost: 3,
  cache: 'none',
  async handler({ params }, { deps, catalogue }) {
    const user = params.userAddress as Address
    const { claims, down } = await deps.onChain.rewards.find(user)
    const claimable = Object.fromEntries(
      networkIds.map(({ name }) => [
        name,
        claims.flatMap(claim => {
          const network = findNetwork(claim.network)
          if (claim.network !== name || !network) return []
          const { token, amount, claimId } = claim
          const price = catalogue.asset(network.chainId, token.address)?.price ?? claim.priceUsd
          return {
            claimId,
            asset: {
              ...rewardAssetOf(catalogue, network, token),
              claimableAmount: String(amount),
              ...(price === undefined
                ? {}
                : { claimableAmountInUsd: decimalString(toWhole(amount, token.decimals) * price) }),
            },
            sources: [{ protocol: { name: protocolName(claim.source) } }],
            actionUrl: `/v2/transactions/rewards/claim/${checksum(user)}?claimIds=${claimId}`,
          }
        }),
      ]),
    )
    const claimIds = claims.slice(0, MOST_CLAIMS).map(({ claimId }) => claimId)
    return {
      claimable,
      actionUrl: `/v2/transactions/rewards/claim/${checksum(user)}?claimIds=${claimIds.join(',')}`,
      ...(down.length > 0 ? { errors: { unavailableSources: down } } : {}),
    }
  },
})
