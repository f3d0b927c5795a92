import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** What Morpho's adaptive rate model says of a market at each accrual. */
export default defineProjection({
  name: 'morpho_rate',
  version: 1,
  handles: ['RateAtTargetChanged'],
  face: 'lending',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    irm: z.string(),
    market: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    average_rate_wad: z.string(),
    rate_at_target_wad: z.string(),
  }),
})
