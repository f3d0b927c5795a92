import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** What accounts did in lending markets. */
export default defineProjection({
  name: 'lending_event',
  version: 1,
  handles: [
    'Supplied',
    'Withdrawn',
    'CollateralSupplied',
    'CollateralWithdrawn',
    'Borrowed',
    'Repaid',
    'Liquidated',
    'DebtAbsorbed',
    'CollateralAbsorbed',
  ],
  face: 'lending',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    protocol: z.string(),
    account: z.string(),
    contract: z.string(),
    market: z.string(),
    side: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    event_type: z.string(),
    assets: z.string(),
    tx_hash: z.string(),
    log_index: z.number(),
    part: z.number(),
  }),
})
