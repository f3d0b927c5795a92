import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** The catalogue: vaults as they were discovered; `vault_made`, who made them. */
export default defineProjection({
  name: 'vault',
  version: 1,
  handles: ['VaultDiscovered'],
  face: 'core',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    vault: z.string(),
    position: z.number(),
    block_number: z.number(),
    timestamp: z.number(),
    protocol: z.string(),
    name: z.string(),
    symbol: z.string(),
    decimals: z.number(),
    asset: z.string(),
    asset_name: z.string(),
    asset_symbol: z.string(),
    asset_decimals: z.number(),
    deployed_block: z.number().nullable(),
    deployed_at: z.number().nullable(),
    async_deposits: z.number().nullable(),
    async_redemptions: z.number().nullable(),
  }),
  beside: [
    {
      name: 'vault_made',
      handles: ['VaultCreated', 'VaultDiscovered'],
      row: z.object({
        chain_id: z.number(),
        vault: z.string(),
        position: z.number(),
        block_number: z.number(),
        timestamp: z.number(),
        factory: z.string(),
        protocol: z.string(),
      }),
    },
  ],
})
