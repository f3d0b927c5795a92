import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Streams of rewards as the vaults that pay them out state them. */
export default defineProjection({
  name: 'reward_stream',
  version: 1,
  handles: ['RewardStreamSampled'],
  face: 'core',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    vault: z.string(),
    reward: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    name: z.string(),
    symbol: z.string(),
    decimals: z.number(),
    rate: z.string(),
    ends_at: z.number(),
  }),
})
