import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** A UTC day's flows of a vault, running. */
export default defineProjection({
  name: 'daily_flow',
  version: 1,
  handles: ['Deposited', 'Redeemed'],
  streams: 'chains',
  row: z.object({
    chain_id: z.number(),
    vault: z.string(),
    day: z.string(),
    position: z.number(),
    block_number: z.number(),
    timestamp: z.number(),
    account: z.string(),
    kind: z.string(),
    total_deposits: z.string(),
    total_redemptions: z.string(),
    deposit_count: z.number(),
    redemption_count: z.number(),
    unique_depositors: z.number(),
    unique_redeemers: z.number(),
  }),
})
