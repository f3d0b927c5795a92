import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { lpTokenOf } from '../../../catalogue/wire.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { userAddress } from '../../../http/parameters.ts'
import { Address, Amount, AssetShape, LpTokenShape } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { positionEvents } from '../../../portfolio/events.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/portfolio/events/{userAddress}/{network}/{vaultId}',
  summary: 'Deposits, withdrawals and reward claims of a wallet in a vault, oldest first',
  description:
    'By owner of the shares, whoever paid or received the assets. A plain transfer of shares is no event. sharePrice is that of the vault at the end of the block; where it was not read there, the assets per share of the event itself, or for a claim the last one before it. A claim is a reward that the vault itself paid, or one that a distributor paid in the asset of the vault to a wallet that has held its shares: distributors do not say which vault earned it, and their rewards in other tokens are left out. Of a claim in another token than the asset assetAmountNative is 0; rewardToken and rewardAmountNative say what was paid.',
  params: vaultParams.extend({ userAddress: userAddress() }),
  response: z.strictObject({
    asset: AssetShape,
    lpToken: LpTokenShape,
    items: z.int(),
    data: z.array(
      z
        .strictObject({
          timestamp: z.int(),
          blockNumber: z.string(),
          eventType: z.enum(['deposit', 'withdrawal', 'claim']),
          assetAmountNative: Amount,
          sharePrice: z
            .number()
            .optional()
            .openapi({ description: 'Absent only where no share moved and no price was read by then.' }),
          lpTokenAmount: Amount,
          transactionHash: z.string(),
          logIndex: z.int(),
          rewardToken: Address.optional().openapi({ description: 'Of claims: what was paid.' }),
          rewardAmountNative: Amount.optional(),
        })
        .openapi('PositionEvent'),
    ),
  }),
  table: 'data',
  example: { params: { userAddress: '{user}', network: '{network}', vaultId: '{vault}' } },
  cost: 3,
  cache: 'moment',
  async handler({ params }, context) {
    const found = findVault(params, context)
    const data = await positionEvents(params.userAddress, found, context)
    return {
      asset: found.vault.asset.wire,
      lpToken: lpTokenOf(found.vault),
      items: data.length,
      data: data.map(({ position, ...event }) => ({ ...event, blockNumber: String(event.blockNumber) })),
    }
  },
})
