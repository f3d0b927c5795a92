import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Falls of the share price within a UTC day, running. */
export default defineProjection({
  name: 'drawdown',
  version: 1,
  handles: ['StateSampled'],
  face: 'core',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    vault: z.string(),
    day: z.string(),
    position: z.number(),
    block_number: z.number(),
    timestamp: z.number(),
    max_price: z.number(),
    min_price: z.number(),
    max_drawdown: z.number(),
  }),
})
