import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Deposits and redemptions by the API key whose suffix their transaction bears. */
export default defineProjection({
  name: 'attributed_flow',
  version: 1,
  handles: ['Deposited', 'Redeemed'],
  face: 'attribution',
  streams: 'evm',
  row: z.object({
    code: z.string(),
    chain_id: z.number(),
    day: z.string(),
    vault: z.string(),
    position: z.number(),
    block_number: z.number(),
    timestamp: z.number(),
    account: z.string(),
    kind: z.string(),
    assets: z.string(),
    shares: z.string(),
    tx_hash: z.string(),
    log_index: z.number(),
  }),
})
