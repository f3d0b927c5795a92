import * as Distributor from '../../../abi/rewards/UniversalRewardsDistributor.ts'
import table from '../../../db/registry/contracts/rewards.json' with { type: 'json' }
import { on } from '../../handling/decoder.ts'
import { addressesByNetwork } from '../../knowledge/address-tables.ts'
import { defineProtocol } from '../../protocol.ts'

/** Claims at Morpho's Universal Rewards Distributors. No log of a claim names the vault or market that earned it. */
export default defineProtocol({
  name: 'morpho-urd',
  sources: [
    {
      kind: 'morpho-urd',
      at: addressesByNetwork(table['morpho-urd']),
      transactions: true,
      decoders: [
        on(Distributor.Claimed, 'RewardClaimed', a => ({
          source: 'morpho-urd' as const,
          account: a.account,
          token: a.reward,
          amount: a.amount,
        })),
      ],
    },
  ],
})
