import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** What reserves of Aave can pay out. */
export default defineProjection({
  name: 'aave_liquidity',
  version: 1,
  handles: ['ReserveLiquiditySampled'],
  face: 'lending',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    pool: z.string(),
    asset: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    available: z.string(),
  }),
})
