import { z } from 'zod'
import { address, count, int, text, uint, unixSeconds } from './shapes.ts'

/**
 * What markets of fixed-term yield tell: a part of vocabulary.ts. A yield-bearing token is wrapped (SY) and split until an
 * expiry into principal (PT, worth one asset then) and yield (YT); a market pools PT and SY. Amounts are base units of the token
 * named; rates are continuous, per year, scaled by 1e18.
 */
export const fixedTermVocabulary = {
  /** A factory made a market; `contract` is the factory. */
  FixedTermMarketCreated: z.object({ market: address, pt: address }),
  /** The tokens that a market (`contract`) answered for, and when it ends: none of it ever changes. */
  FixedTermTokensNamed: z.object({
    market: address,
    pt: address,
    sy: address,
    yt: address,
    expiry: unixSeconds,
  }),
  /** What those tokens say of themselves; the asset is what the SY, which may be anybody's, says that it stands for. */
  FixedTermMarketDescribed: z.object({
    market: address,
    /** Of the PT. */
    name: text,
    symbol: text,
    decimals: count,
    syDecimals: count.optional(),
    yieldToken: address.optional(),
    asset: address.optional(),
    assetDecimals: count.optional(),
    /** The asset is not a token that can be had but what a position in liquidity is worth. */
    isLiquidity: z.literal(true).optional(),
  }),
  /** The rate of the last trade of a market (`contract`), and the time up to which it counts. */
  ImpliedRateUpdated: z.object({ lnRateWad: uint, at: unixSeconds }),
  /** A trade of a market (`contract`): what left its pool, below zero what came into it. syToReserve left besides. */
  PrincipalSwapped: z.object({
    caller: address,
    receiver: address,
    ptOut: int,
    syOut: int,
    syFee: uint,
    syToReserve: uint,
  }),
  /** Liquidity came to a market (`contract`). */
  PoolLiquidityAdded: z.object({ receiver: address, lp: uint, sy: uint, pt: uint }),
  PoolLiquidityRemoved: z.object({ receiverSy: address, receiverPt: address, lp: uint, sy: uint, pt: uint }),
  /** PT (`contract`) moved; from or to the zero address it came to be or was redeemed. */
  PrincipalTransferred: z.object({ from: address, to: address, amount: uint }),
  /**
   * A market (`contract`) and its tokens at the end of the block. exchangeRate: assets for an SY, scaled by 1e18, absent where the SY
   * does not answer or answers nonsense; pyIndex: the highest it was when the YT looked last; oracleRateWad: what the
   * protocol's own oracle says one PT is worth in the asset, scaled by 1e18.
   */
  FixedTermStateSampled: z.object({
    totalPt: uint,
    totalSy: uint,
    totalLp: uint,
    lnRateWad: uint,
    ptSupply: uint.optional(),
    exchangeRate: uint.optional(),
    pyIndex: uint.optional(),
    oracleRateWad: uint.optional(),
  }),
} satisfies Record<string, z.ZodObject>
