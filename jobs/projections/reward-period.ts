import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Rewards that distributors were given for the holders of vaults, epoch by epoch. */
export default defineProjection({
  name: 'reward_period',
  version: 1,
  handles: ['RewardPeriodFunded'],
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
    amount: z.string(),
    starts_at: z.number(),
    ends_at: z.number(),
  }),
})
