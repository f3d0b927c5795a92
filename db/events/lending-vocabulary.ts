import { z } from 'zod'
import { address, count, int, text, uint, unixSeconds } from './shapes.ts'

/** What only some lending protocols have to tell, and the state that they are sampled for: a part of vocabulary.ts. */
export const lendingVocabulary = {
  // ---- Compound v3; `market` is the Comet, rates are per second and factors fractions, both scaled by 1e18
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

  // ---- Aave v3; `contract` is the aToken or debt token
  /** The token's code changed, and with it, it may be, how it rounds. */
  TokenUpgraded: z.object({ implementation: address }),
  /**
   * POOL_REVISION() of the token's pool at the end of the block, which says how both round (9: v3.5). sinceLog: the log of
   * the upgrade, where there was one.
   */
  PoolRevisionSampled: z.object({ pool: address, revision: count, sinceLog: count.optional() }),

  /**
   * What a reserve (`market`, of the pool that is `contract`) could pay out at the end of the block, base units: from v3.1
   * on what the pool keeps of what came and went, before what the aToken held.
   */
  ReserveLiquiditySampled: z.object({ market: text, available: uint }),

  /** Where a pool (`contract`) says that its price oracle is to be found: it never changes. */
  LendingPoolDescribed: z.object({ addressesProvider: address }),

  // ---- Euler v2; `market` is the vault that lends
  /** What a vault says of itself after each act: interest is in it up to its block; the rate holds from there on. */
  VaultStatusChanged: z.object({
    market: text,
    totalShares: uint,
    /** Base units, rounded up. */
    totalBorrows: uint,
    accumulatedFees: uint,
    cash: uint,
    accumulatorRay: uint,
    /** Per second, ray. */
    interestRateRay: uint,
  }),
  DebtTransferred: z.object({ market: text, from: address, to: address, assets: uint }),
  /** A debt that nothing secures any more was given up, at the cost of those who lend. */
  DebtSocialized: z.object({ market: text, account: address, assets: uint }),
  /** The liquidation LTV goes from the initial one to the other in the seconds before targetAt. */
  LtvChanged: z.object({
    market: text,
    collateral: address,
    borrowLtvBps: count,
    liquidationLtvBps: count,
    initialLiquidationLtvBps: count,
    targetAt: unixSeconds,
    rampSeconds: count,
  }),
  /** A vault secures an account from here on or no more; `contract` is the connector. */
  AccountCollateralChanged: z.object({ account: address, vault: address, enabled: z.boolean() }),
  /** A vault may take an account's collateral from here on or no more: the one that lends to it. */
  AccountControllerChanged: z.object({ account: address, vault: address, enabled: z.boolean() }),
  /** The 256 accounts whose addresses begin with these 19 bytes are this wallet's from here on, for good. */
  AccountOwnerRegistered: z.object({ prefix: text, owner: address }),
  /** A vault's debt with 31 bits of fraction at the end of the block, and its accumulator there. */
  DebtTotalSampled: z.object({ market: text, owed: uint, accumulatorRay: uint }),
  /** An account's debt with 31 bits of fraction at the end of a block in which it changed. */
  DebtSampled: z.object({ market: text, account: address, owed: uint, accumulatorRay: uint }),
  /** Whom a lending vault asks what its asset and a collateral are worth, in what unit: it never changes. */
  CollateralOracleNamed: z.object({
    market: text,
    collateral: address,
    asset: address,
    oracle: address,
    unitOfAccount: address,
  }),

  // ---- state that lending markets of several protocols are sampled for
  /**
   * What a market's oracle answered for an asset (none named: its collateral in its loan asset), in the oracle's unit; no
   * price: it did not answer.
   */
  OraclePriceSampled: z.object({
    market: text,
    asset: address.optional(),
    oracle: address,
    price: uint.optional(),
  }),
  /** The rate per second that a market's model has from here on, scaled by 1e18. */
  BorrowRateSampled: z.object({ market: text, rateWad: uint }),
  /** A token that no vault describes; `contract` is the token. */
  AssetDescribed: z.object({ asset: address, name: text, symbol: text, decimals: count }),
} satisfies Record<string, z.ZodObject>
