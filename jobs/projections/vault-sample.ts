import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Every sample of a vault's state. */
export default defineProjection({
  name: 'vault_sample',
  version: 1,
  handles: ['StateSampled'],
  face: 'core',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    vault: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    total_assets: z.string().nullable(),
    total_supply: z.string().nullable(),
    share_price_raw: z.string().nullable(),
    fine_price: z.string().nullable(),
    fine_digits: z.number(),
    share_price: z.number().nullable(),
    max_deposit: z.string().nullable(),
    idle_assets: z.string().nullable(),
    borrowed_assets: z.string().nullable(),
    decimals: z.number(),
    asset_decimals: z.number(),
  }),
})
