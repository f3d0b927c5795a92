import * as Distributor from '../../../abi/rewards/MerklDistributor.ts'
import table from '../../../db/registry/contracts/rewards.json' with { type: 'json' }
import { on } from '../../handling/decoder.ts'
import { addressesByNetwork } from '../../knowledge/address-tables.ts'
import { defineProtocol } from '../../protocol.ts'

/** Claims at the distributors of Merkl. No log of a claim names the vault or market that earned it. */
export default defineProtocol({
  name: 'merkl',
  sources: [
    {
      kind: 'merkl-distributor',
      at: addressesByNetwork(table['merkl-distributor']),
      transactions: true,
      decoders: [
        on(Distributor.Claimed, 'RewardClaimed', a => ({
          source: 'merkl' as const,
          account: a.user,
          token: a.token,
          amount: a.amount,
        })),
      ],
    },
  ],
})
