import { maxUint256 } from 'viem'
import { networkOfChain } from '../../db/networks.ts'
import type { AssetInfo } from '../catalogue/assets.ts'
import { isVouchedFor } from '../catalogue/vault-state.ts'
import { checksum, checksumIn, usdOf as usdAt, usdString } from '../http/amounts.ts'
import type { AssetPosition, LendingPosition } from './family.ts'
import { type LendingAsset, type LendingMarket, protocolOf, ratio } from './market.ts'
import { NOBODY_VOUCHES } from './standing.ts'

/** USD of an amount at the catalogue's price; undefined where there is none and the amount is not 0. */
export function usdOf({ info }: LendingAsset, amount: bigint): number | undefined {
  return usdAt(amount, info.decimals, info.price)
}

/** An amount with its USD at a price; without USD where there is no price and the amount is not 0. */
export function amountOf(
  native: bigint,
  { decimals }: Pick<AssetInfo, 'decimals'>,
  price: number | undefined,
) {
  const usd = usdAt(native, decimals, price)
  return { native: native.toString(), ...(usd === undefined ? {} : { usd }) }
}

/** USD of all that is supplied; assets without a price count nothing. */
export const tvlOf = (market: LendingMarket) =>
  market.assets.reduce((sum, asset) => sum + (usdOf(asset, asset.supplied) ?? 0), 0)

export const marketIdOf = (market: LendingMarket) => checksumIn(market.id)
export const marketAssetIdOf = (asset: Pick<LendingAsset, 'id'>) => checksumIn(asset.id)

function identityOf(market: LendingMarket) {
  const network = networkOfChain(market.chainId)
  const { name = '', chainId = market.chainId, networkCaip = '' } = network ?? {}
  return {
    marketId: marketIdOf(market),
    name: market.name,
    network: { name, chainId, networkCaip },
    protocol: protocolOf(market),
  }
}

/** What an answer about a single market says of one that nobody vouches for. */
export const marketWarning = (market: LendingMarket): { warnings?: string[] } =>
  isVouchedFor(market) ? {} : { warnings: [NOBODY_VOUCHES] }

export function marketWire(market: LendingMarket) {
  return {
    ...identityOf(market),
    marketRootAddress: checksum(market.root),
    standing: market.standing ?? ('listed' as const),
    ...marketWarning(market),
    assetsData: market.assets.map(marketAssetWire),
  }
}

function marketAssetWire(asset: LendingAsset) {
  const { supplied, borrowed, liquidity, borrowCap, isBorrowEnabled } = asset
  const amount = (native: bigint) => ({ usd: usdString(usdOf(asset, native)), native: native.toString() })
  const room = borrowCap === undefined ? liquidity : borrowCap > borrowed ? borrowCap - borrowed : 0n
  return {
    asset: asset.info.wire,
    marketAssetId: marketAssetIdOf(asset),
    isCollateralEnabled: asset.isCollateralEnabled,
    supplyRate: asset.supplyRate ?? null,
    borrowRate: asset.borrowRate ?? null,
    utilizationRate: ratio(borrowed, supplied),
    totalSupplied: amount(supplied),
    totalBorrowed: amount(borrowed),
    availableLiquidity: amount(liquidity),
    availableToBorrow: amount(isBorrowEnabled ? (room < liquidity ? room : liquidity) : 0n),
    assetConfig: {
      isBorrowEnabled,
      borrowInterestFeeRate: asset.feeRate,
      borrowCap: (borrowCap ?? maxUint256).toString(),
      supplyCap: (asset.supplyCap ?? maxUint256).toString(),
    },
    defaultRiskParameters: asset.risk,
    ...(asset.pairs
      ? {
          pairRiskParameters: asset.pairs.map(pair => ({
            ...pair,
            collateralMarketAssetId: checksumIn(pair.collateralMarketAssetId),
          })),
        }
      : {}),
  }
}

function positionedAsset({ asset, positionId, collateralEnabled, supplied, borrowed }: AssetPosition) {
  const usd = (amount: bigint) => usdOf(asset, amount) ?? null
  return {
    asset: asset.info.wire,
    positionId: checksumIn(positionId),
    collateralEnabled,
    balanceNative: (supplied - borrowed).toString(),
    suppliedNative: supplied.toString(),
    borrowedNative: borrowed.toString(),
    balanceUsd: usd(supplied - borrowed),
    suppliedUsd: usd(supplied),
    borrowedUsd: usd(borrowed),
  }
}

const UNKNOWN_HEALTH =
  "What the market's price oracle says of all that the wallet owes or has as collateral is not known: it did not answer, or was not asked yet. ltv and healthFactor are unknown, and the position may be open to liquidation."

function headOf({ market, user, account, ltv, healthFactor }: LendingPosition, others: readonly string[]) {
  const isUnknown = healthFactor === undefined && ltv !== 0
  const warnings = [
    ...(isUnknown ? [UNKNOWN_HEALTH] : []),
    ...(isVouchedFor(market) ? [] : [NOBODY_VOUCHES]),
    ...(others.length > 0
      ? [`Other accounts of the wallet have positions in this market: ${others.map(checksum).join(', ')}.`]
      : []),
  ]
  return {
    ...identityOf(market),
    userAddress: checksum(user),
    ...(account === user ? {} : { subAccount: checksum(account) }),
    ltv: ltv ?? null,
    healthFactor: healthFactor ?? null,
    ...(warnings.length > 0 ? { warnings } : {}),
  }
}

/** Of all assets of the position, or of those given; without any that are empty. */
export function positionWire(
  position: LendingPosition,
  assets: readonly AssetPosition[] = position.assets,
  others: readonly string[] = [],
) {
  return {
    ...headOf(position, others),
    assets: assets.filter(({ supplied, borrowed }) => supplied > 0n || borrowed > 0n).map(positionedAsset),
  }
}

export const assetPositionWire = (
  position: LendingPosition,
  asset: AssetPosition,
  others: readonly string[],
) => ({
  ...headOf(position, others),
  asset: positionedAsset(asset),
})
