import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Rewards paid out, by account. */
export default defineProjection({
  name: 'reward_claim',
  version: 1,
  handles: ['RewardClaimed'],
  face: 'core',
  streams: 'evm',
  row: z.object({
    account: z.string(),
    chain_id: z.number(),
    token: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    source: z.string(),
    distributor: z.string(),
    receiver: z.string().nullable(),
    amount: z.string(),
    tx_hash: z.string(),
    log_index: z.number(),
  }),
})
