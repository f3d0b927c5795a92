import * as Euler from '../../../abi/euler/TrackingRewardStreams.ts'
import * as Comet from '../../../abi/rewards/CometRewards.ts'
import * as Merkl from '../../../abi/rewards/MerklDistributor.ts'
import * as Aave from '../../../abi/rewards/RewardsController.ts'
import * as Urd from '../../../abi/rewards/UniversalRewardsDistributor.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import table from '../../../db/registry/contracts/rewards.json' with { type: 'json' }
import { eventOf, on, onMany } from '../../handling/decoder.ts'
import { addressesByNetwork } from '../../knowledge/address-tables.ts'
import { defineProtocol, ofProtocol, type StateRead } from '../../protocol.ts'
import { describeEpoch, describeStream, FAR } from '../../samples/reward-streams.ts'
import { aaveMarkets } from '../aave-v3/markets.ts'

const controllers = Object.fromEntries(
  Object.entries(aaveMarkets).map(([network, markets]) => [
    network,
    [...new Set(markets.flatMap(({ rewardsController }) => rewardsController ?? []))],
  ]),
)

function describe(event: DomainEvent): StateRead | undefined {
  if (event.type === 'RewardStreamConfigured') return describeStream(event.data)
  return event.type === 'RewardEpochRegistered' ? describeEpoch(event, event.data) : undefined
}

/**
 * Rewards paid out by distributors. Merkl and Morpho's URD log claims alike: which of the two it is, the address says.
 * No log of a claim names the vault or market that earned it; what Aave's controllers and Euler's reward streams
 * pay to holders of a token, and until when, their configuration does.
 */
export default defineProtocol({
  name: 'rewards',
  sources: [
    {
      kind: 'merkl-distributor',
      protocol: 'merkl',
      at: addressesByNetwork(table['merkl-distributor']),
      transactions: true,
      decoders: [
        on(Merkl.Claimed, 'RewardClaimed', a => ({
          source: 'merkl' as const,
          account: a.user,
          token: a.token,
          amount: a.amount,
        })),
      ],
    },
    {
      kind: 'morpho-urd',
      protocol: 'morpho-urd',
      at: addressesByNetwork(table['morpho-urd']),
      transactions: true,
      decoders: [
        on(Urd.Claimed, 'RewardClaimed', a => ({
          source: 'morpho-urd' as const,
          account: a.account,
          token: a.reward,
          amount: a.amount,
        })),
      ],
    },
    {
      kind: 'aave-v3-rewards',
      protocol: 'aave-v3',
      at: controllers,
      transactions: true,
      decoders: [
        on(Aave.RewardsClaimed, 'RewardClaimed', a => ({
          source: 'aave-v3' as const,
          account: a.user,
          receiver: a.to,
          token: a.reward,
          amount: a.amount,
        })),
        // Emission or end was changed; of aTokens and of debt tokens alike.
        on(Aave.AssetConfigUpdated, 'RewardStreamConfigured', a => ({
          vault: a.asset,
          reward: a.reward,
          ratePerSecond: a.newEmission,
          endsAt: Number(a.newDistributionEnd > FAR ? FAR : a.newDistributionEnd),
        })),
      ],
    },
    {
      kind: 'comet-rewards',
      protocol: 'compound-v3',
      at: addressesByNetwork(table['comet-rewards']),
      transactions: true,
      decoders: [
        on(Comet.RewardClaimed, 'RewardClaimed', a => ({
          source: 'compound-v3' as const,
          account: a.src,
          receiver: a.recipient,
          token: a.token,
          amount: a.amount,
        })),
      ],
    },
    {
      kind: 'euler-reward-streams',
      protocol: 'euler-v2',
      at: addressesByNetwork(table['euler-reward-streams']),
      decoders: [
        onMany(Euler.RewardRegistered, ['RewardEpochRegistered'], (a, log) =>
          a.rewardAmounts.flatMap((amount, i) => {
            const epoch = Number(a.startEpoch) + i
            const data = { vault: a.rewarded, reward: a.reward, epoch, amount }
            return amount === 0n ? [] : [eventOf(log, 'RewardEpochRegistered', data) as DomainEvent]
          }),
        ),
      ],
    },
  ],
  wants: event => {
    const read = describe(event)
    return read && { reads: [event.protocol ? ofProtocol(event.protocol, read) : read] }
  },
})
