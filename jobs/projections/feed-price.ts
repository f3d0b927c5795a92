import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Prices as feeds reported them. */
export default defineProjection({
  name: 'feed_price',
  version: 1,
  handles: ['PriceReported'],
  face: 'core',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    feed: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    source: z.string(),
    answer: z.string(),
    decimals: z.number(),
    price: z.number(),
  }),
})
