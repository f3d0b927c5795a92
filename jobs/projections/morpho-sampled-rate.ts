import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** What rate models of Morpho's markets answer, other than the adaptive one. */
export default defineProjection({
  name: 'morpho_sampled_rate',
  version: 1,
  handles: ['BorrowRateSampled'],
  face: 'lending',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    market: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    rate_wad: z.string(),
  }),
})
