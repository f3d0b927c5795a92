import { z } from 'zod'
import { defineProjection } from '../projection.ts'

const at = { timestamp: z.number(), position: z.number(), block_number: z.number() }
const vault = { chain_id: z.number(), vault: z.string() }
const tick = z.number().nullable()

/** Vaults of concentrated liquidity: what they are of, sampled states, what was moved, and who holds shares. */
export default defineProjection({
  name: 'amm_vault',
  version: 1,
  handles: ['AmmVaultCreated'],
  face: 'amm',
  streams: 'evm',
  row: z.object({ ...vault, ...at, protocol: z.string(), factory: z.string(), creator: z.string() }),
  beside: [
    {
      name: 'amm_description',
      handles: ['AmmVaultDescribed'],
      row: z.object({
        ...vault,
        ...at,
        name: z.string(),
        symbol: z.string(),
        decimals: z.number(),
        pool: z.string(),
        token0: z.string(),
        token1: z.string(),
        takes_token0: z.number(),
        takes_token1: z.number(),
      }),
    },
    {
      name: 'amm_state',
      handles: ['AmmVaultSampled'],
      row: z.object({
        ...vault,
        ...at,
        total0: z.string(),
        total1: z.string(),
        supply: z.string(),
        sqrt_price_x96: z.string(),
        twap_period: z.number().nullable(),
        mean_tick: tick,
        base_liquidity: z.string().nullable(),
        base_lower: tick,
        base_upper: tick,
        limit_liquidity: z.string().nullable(),
        limit_lower: tick,
        limit_upper: tick,
      }),
    },
    {
      name: 'amm_flow',
      handles: ['AmmDeposited', 'AmmWithdrawn', 'AmmRebalanced', 'AmmFeesCollected'],
      row: z.object({
        ...vault,
        ...at,
        tx_hash: z.string(),
        log_index: z.number(),
        kind: z.string(),
        account: z.string(),
        shares: z.string(),
        amount0: z.string(),
        amount1: z.string(),
        fee0: z.string(),
        fee1: z.string(),
      }),
    },
    {
      name: 'amm_share',
      handles: ['AmmShareTransferred'],
      row: z.object({
        ...vault,
        holder: z.string(),
        ...at,
        delta: z.string(),
        balance: z.string(),
      }),
    },
  ],
})
