import { assetAt } from '../../../catalogue/assets.ts'
import { identityOf, lpTokenOf } from '../../../catalogue/wire.ts'
import { decimalString, toWhole, usdString } from '../../../http/amounts.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { timestamp, userAddress } from '../../../http/parameters.ts'
import {
  Address,
  Amount,
  leftOutWarning,
  NetworkShape,
  PositionAsset,
  PositionLpToken,
  ProtocolShape,
  Rate,
  Unsupported,
} from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { refuseFuture } from '../../../moment/time-range.ts'
import type { BalanceAt } from '../../../portfolio/balances-at.ts'
import { readBalancesAt } from '../../../portfolio/balances-at.ts'
import { balanceOf } from '../../../portfolio/positions.ts'
import { positionsQuery, selectPositions } from '../../../portfolio/select-positions.ts'

const AssetThen = PositionAsset.partial({ balanceNative: true }).openapi('PositionAssetThen')

export default defineEndpoint({
  tier: 'alpha',
  method: 'get',
  path: '/historical-balances/{userAddress}/{timestamp}',
  summary: 'What a wallet held at a moment: exact balances, with share price, asset price and APY of then',
  description:
    'Balances are those after the last block at or before the timestamp. Filters on TVL and APY look at the figures of that moment, all others at the vault as it is known now. positionValueInAsset is what the shares were worth, rounded down. balanceNative of an asset is what the wallet held of it, where that is the share of another vault; of other tokens the past is not recorded, and it is left out.',
  params: z.object({ userAddress: userAddress(), timestamp: timestamp() }),
  query: positionsQuery,
  response: z.strictObject({
    timestamp: z.int(),
    data: z.array(
      z
        .strictObject({
          vaultId: z.string(),
          address: Address,
          name: z.string(),
          network: NetworkShape,
          protocol: ProtocolShape,
          asset: AssetThen,
          lpToken: PositionLpToken,
          isTransactional: z.boolean(),
          isAppFeatured: z.boolean(),
          userEventsIndexed: z.boolean(),
          apy: Rate,
          sharePrice: z.number().optional(),
          totalAssetsNative: Amount.optional(),
          blockNumber: z.string().optional().openapi({ description: 'Block that the figures are of.' }),
        })
        .openapi('BalanceAtMoment'),
    ),
    errors: Unsupported,
    ...leftOutWarning,
  }),
  table: 'data',
  example: { params: { userAddress: '{user}', timestamp: '{timestamp}' } },
  cost: 5,
  cache: 'moment',
  async handler({ params, query }, context) {
    const { catalogue } = context
    refuseFuture('timestamp', params.timestamp, catalogue.moment)
    context.touch(...catalogue.moment.chains.keys())
    const { balances, leftOut } = await readBalancesAt(
      params.userAddress,
      params.timestamp,
      query.apyInterval,
      context,
    )
    const { shown, errors, isLeftOut } = selectPositions(balances, query, context.shown)
    const unknown = { tvlUsd: undefined, apy: undefined }
    context.leaveOut(leftOut.filter(vault => isLeftOut(vault, unknown)).length, shown.length === 0)
    return { timestamp: params.timestamp, data: shown.map(positionOf), errors }
  },
})

function positionOf({ vault, balance, assetBalance, state, apy, assetPrice, value, valueUsd }: BalanceAt) {
  const sharePrice =
    state?.share_price == null || state.share_price_raw === null
      ? undefined
      : toWhole(BigInt(state.share_price_raw), vault.asset.decimals)
  return {
    ...identityOf(vault),
    protocol: vault.protocol,
    asset: {
      ...assetAt(vault.asset, assetPrice),
      // Of the wallet's other balances the past is not recorded.
      ...(assetBalance === undefined ? {} : balanceOf(assetBalance, vault.asset.decimals, assetPrice)),
      ...(value === undefined ? {} : { positionValueInAsset: value.toString() }),
    },
    lpToken: {
      ...lpTokenOf(vault),
      balanceNative: balance.toString(),
      ...(valueUsd === undefined ? {} : { balanceUsd: usdString(valueUsd) }),
      ...(value === undefined ? {} : { positionValueInAsset: value.toString() }),
      ...(assetPrice === undefined ? {} : { assetPriceInUsd: decimalString(assetPrice) }),
    },
    userEventsIndexed: vault.userEventsIndexed,
    apy,
    ...(sharePrice === undefined ? {} : { sharePrice }),
    ...(state?.total_assets == null ? {} : { totalAssetsNative: state.total_assets }),
    ...(state ? { blockNumber: String(state.block_number) } : {}),
  }
}
