import { z } from 'zod'
import { address, count, text, uint } from './shapes.ts'

/** A price of a pool: 1.0001 to its power is token1 base units per token0 base unit. */
const tick = z.number().int()

/** Of token0 and token1, base units. */
const moved = { sender: address, to: address, shares: uint, amount0: uint, amount1: uint }

/**
 * What vaults of liquidity tell: a part of vocabulary.ts. Such a vault puts two tokens into at most two positions (base and limit)
 * of one pool of concentrated liquidity and has shares of its own; `contract` is the vault where nothing else is said.
 */
export const ammVocabulary = {
  /** A factory (`contract`) made a vault for `creator`: anybody may have it made one. */
  AmmVaultCreated: z.object({ vault: address, creator: address }),
  /** What a vault is of, which never changes; takesToken…: whether it can be deposited. */
  AmmVaultDescribed: z.object({
    vault: address,
    name: text,
    symbol: text,
    decimals: count,
    pool: address,
    token0: address,
    token1: address,
    takesToken0: z.boolean(),
    takesToken1: z.boolean(),
  }),
  /** Whose the shares are is told by the transfers beside: sender may be a guard. */
  AmmDeposited: z.object(moved),
  AmmWithdrawn: z.object(moved),
  /** Positions were made anew out of all that the vault has; fees: what the old ones had earned, before anybody's part of it. */
  AmmRebalanced: z.object({
    tick,
    total0: uint,
    total1: uint,
    fee0: uint,
    fee1: uint,
    supply: uint,
  }),
  /** Likewise, where positions stay. */
  AmmFeesCollected: z.object({ sender: address, fee0: uint, fee1: uint }),
  AmmShareTransferred: z.object({ from: address, to: address, shares: uint }),
  /**
   * A vault and its pool at the end of the block. total…: what the vault has, in positions at the pool's price of that moment and
   * idle; fees that the positions earned since they were touched last are not in it. sqrtPriceX96: root of token1 base units per
   * token0 base unit at that moment, times 2^96. meanTick: over the last `twapPeriod` seconds, as the pool's oracle says it;
   * absent where that does not reach so far back. Liquidity and ticks of the positions: all absent where one was not answered.
   */
  AmmVaultSampled: z.object({
    total0: uint,
    total1: uint,
    supply: uint,
    sqrtPriceX96: uint,
    twapPeriod: count.optional(),
    meanTick: tick.optional(),
    baseLiquidity: uint.optional(),
    baseLower: tick.optional(),
    baseUpper: tick.optional(),
    limitLiquidity: uint.optional(),
    limitLower: tick.optional(),
    limitUpper: tick.optional(),
  }),
} satisfies Record<string, z.ZodObject>
