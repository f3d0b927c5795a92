import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Amounts that left a chain for another one. */
export default defineProjection({
  name: 'bridge_sent',
  version: 1,
  handles: ['BridgeSent'],
  face: 'bridge',
  streams: 'evm',
  row: z.object({
    recipient: z.string(),
    chain_id: z.number(),
    position: z.number(),
    block_number: z.number(),
    timestamp: z.number(),
    protocol: z.string(),
    depositor: z.string(),
    token: z.string(),
    amount: z.string(),
    max_fee: z.string(),
    source_domain: z.number(),
    destination_domain: z.number(),
    min_finality: z.number(),
    transfer_key: z.string(),
    message_hash: z.string(),
    tx_hash: z.string(),
    log_index: z.number(),
  }),
})
