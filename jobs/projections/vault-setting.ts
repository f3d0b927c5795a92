import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Fees, caps and pauses of vaults, every change. */
export default defineProjection({
  name: 'vault_setting',
  version: 1,
  handles: ['FeeChanged', 'CapChanged', 'Paused', 'Unpaused'],
  face: 'core',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    vault: z.string(),
    setting: z.string(),
    market: z.string(),
    position: z.number(),
    block_number: z.number(),
    timestamp: z.number(),
    value: z.string().nullable(),
  }),
})
