import { z } from 'zod'
import { address, count, int, text, uint, unixSeconds } from './shapes.ts'

/** Compound v3; `market` is the Comet, rates are per second and factors fractions, both scaled by 1e18. */
export const comet = {
  /**
   * Lent base token came to an account's balance or went from it (the other side is the zero address) without a supply
   * or withdrawal. unnamed: the other end of it is an account that owes, which no log names.
   */
  BaseTransferred: z.object({
    market: text,
    from: address,
    to: address,
    assets: uint,
    unnamed: z.boolean().optional(),
  }),
  DebtAbsorbed: z.object({ market: text, absorber: address, borrower: address, assets: uint }),
  CollateralAbsorbed: z.object({
    market: text,
    absorber: address,
    borrower: address,
    asset: address,
    assets: uint,
  }),
  CollateralBought: z.object({
    market: text,
    buyer: address,
    asset: address,
    baseAssets: uint,
    assets: uint,
  }),
  ReservesWithdrawn: z.object({ market: text, receiver: address, assets: uint }),
  /** A market's code changed, and with it its configuration. Of a configurator: the code that it is about to get. */
  ImplementationChanged: z.object({ market: address, implementation: address }),
  /** The configuration that a market answered. */
  CometConfigured: z.object({
    market: text,
    baseAsset: address,
    baseOracle: address,
    baseScale: uint,
    baseBorrowMin: uint,
    targetReserves: uint,
    storeFrontPriceFactorWad: uint,
    supplyKinkWad: uint,
    supplyRateBaseWad: uint,
    supplyRateSlopeLowWad: uint,
    supplyRateSlopeHighWad: uint,
    borrowKinkWad: uint,
    borrowRateBaseWad: uint,
    borrowRateSlopeLowWad: uint,
    borrowRateSlopeHighWad: uint,
    assetCount: count,
  }),
  /** One collateral asset of that configuration; supplyCap in base units. */
  CometAssetConfigured: z.object({
    market: text,
    asset: address,
    offset: count,
    oracle: address,
    scale: uint,
    borrowCollateralFactorWad: uint,
    liquidateCollateralFactorWad: uint,
    liquidationFactorWad: uint,
    supplyCap: uint,
  }),
  /** totalsBasic() at the end of the block: indexes scaled by 1e15, principals before interest. */
  CometStateSampled: z.object({
    market: text,
    supplyIndex: uint,
    borrowIndex: uint,
    supplyPrincipal: uint,
    borrowPrincipal: uint,
    updatedAt: unixSeconds,
    pauseFlags: count,
    reserves: int.optional(),
  }),
  /** userBasic(account).principal at the end of the block: what is lent, or below zero what is owed, before interest. */
  PrincipalSampled: z.object({ market: text, account: address, principal: int }),
}
