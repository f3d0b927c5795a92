import { z } from 'zod'
import { defineProjection } from '../projection.ts'

const event = {
  chain_id: z.number(),
  vault: z.string(),
  day: z.string(),
  position: z.number(),
  block_number: z.number(),
  timestamp: z.number(),
}

const soFar = {
  total_deposits: z.string(),
  total_redemptions: z.string(),
  deposit_count: z.number(),
  redemption_count: z.number(),
  unique_depositors: z.number(),
  unique_redeemers: z.number(),
}

const head = z.object({ ...event, ...soFar })

/** A UTC day's flows of a vault, running; `daily_flow_head`, the days as they are now. */
export default defineProjection({
  name: 'daily_flow',
  version: 1,
  handles: ['Deposited', 'Redeemed'],
  face: 'core',
  streams: 'evm',
  row: z.object({ ...event, account: z.string(), kind: z.string(), ...soFar }),
  beside: [
    { name: 'daily_flow_head_taken_back', into: 'daily_flow_head', handles: ['BlockRetracted'], row: head },
    { name: 'daily_flow_head', isHead: true, row: head },
  ],
})
