import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Deposits and redemptions by owner of the shares. */
export default defineProjection({
  name: 'flow',
  version: 1,
  handles: ['Deposited', 'Redeemed'],
  face: 'core',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    vault: z.string(),
    account: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    kind: z.string(),
    assets: z.string(),
    shares: z.string(),
    sender: z.string(),
    tx_hash: z.string(),
    log_index: z.number(),
  }),
})
