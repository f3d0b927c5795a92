import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Amounts that arrived on a chain from another one. */
export default defineProjection({
  name: 'bridge_received',
  version: 1,
  handles: ['BridgeReceived'],
  face: 'bridge',
  streams: 'evm',
  row: z.object({
    transfer_key: z.string(),
    chain_id: z.number(),
    position: z.number(),
    block_number: z.number(),
    timestamp: z.number(),
    protocol: z.string(),
    source_domain: z.number(),
    nonce: z.string(),
    recipient: z.string(),
    depositor: z.string(),
    token: z.string(),
    amount: z.string(),
    fee: z.string(),
    caller: z.string(),
    finality: z.number(),
    tx_hash: z.string(),
    log_index: z.number(),
  }),
})
