import { checksum, toWhole } from '../../../amounts.ts'
import type { Vault } from '../../../catalogue/vault.ts'
import { lpTokenOf } from '../../../catalogue/wire.ts'
import { defineEndpoint } from '../../../endpoint.ts'
import { findVault, vaultParams } from '../../../find-vault.ts'
import { ask } from '../../../queries/query.ts'
import { positionEvents } from '../../../queries/returns.ts'
import { address } from '../../../schemas/parameters.ts'
import { Address, Amount, AssetShape, LpTokenShape } from '../../../schemas/shapes.ts'
import { z } from '../../../schemas/zod.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/portfolio/events/{userAddress}/{network}/{vaultId}',
  summary: 'Deposits, withdrawals and reward claims of a wallet in a vault, oldest first',
  description:
    'By owner of the shares, whoever paid or received the assets. A plain transfer of shares is no event. sharePrice is that of the vault at the end of the block; where it was not read there, the assets per share of the event itself. A claim is a reward that the vault itself paid, or one that a distributor paid in the asset of the vault to a wallet that has held its shares: distributors do not say which vault earned it, and their rewards in other tokens are left out. Of a claim in another token than the asset assetAmountNative is 0; rewardToken and rewardAmountNative say what was paid.',
  params: vaultParams.extend({ userAddress: address() }),
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
            .openapi({ description: 'Absent only where no share moved and the price was not read.' }),
          lpTokenAmount: Amount,
          transactionHash: z.string(),
          logIndex: z.int(),
          rewardToken: Address.optional().openapi({ description: 'Of claims: what was paid.' }),
          rewardAmountNative: Amount.optional(),
        })
        .openapi('PositionEvent'),
    ),
  }),
  example: { params: { userAddress: '{user}', network: '{network}', vaultId: '{vault}' } },
  cost: 3,
  cache: 'moment',
  async handler({ params }, context) {
    const { vault, pinned } = findVault(params, context)
    const rows = await ask(
      context.deps.clickhouse,
      positionEvents,
      { ...pinned, account: params.userAddress, asset: vault.state.asset },
      context.signal,
    )
    return {
      asset: vault.asset.wire,
      lpToken: lpTokenOf(vault),
      items: rows.length,
      data: rows.map(row => ({
        timestamp: row.at,
        blockNumber: String(row.block_number),
        eventType: row.kind === 'redeem' ? ('withdrawal' as const) : row.kind,
        assetAmountNative: row.kind === 'claim' && row.token !== vault.state.asset ? '0' : row.assets,
        sharePrice: row.share_price ?? ownPrice(vault, row),
        lpTokenAmount: row.shares,
        transactionHash: row.tx_hash,
        logIndex: row.log_index,
        ...(row.kind === 'claim' ? { rewardToken: checksum(row.token), rewardAmountNative: row.assets } : {}),
      })),
    }
  },
})

function ownPrice(
  { state, asset }: Vault,
  { assets, shares }: { assets: string; shares: string },
): number | undefined {
  const sold = toWhole(BigInt(shares), state.decimals)
  return sold === 0 ? undefined : toWhole(BigInt(assets), asset.decimals) / sold
}
