import { z } from 'zod'
import { defineProjection } from '../projection.ts'

const sample = {
  position: z.number(),
  block_number: z.number(),
  timestamp: z.number(),
  total_assets: z.string().nullable(),
  total_supply: z.string().nullable(),
  share_price_raw: z.string().nullable(),
  share_price: z.number().nullable(),
  apy_1h: z.number().nullable(),
  apy_1d: z.number().nullable(),
  apy_7d: z.number().nullable(),
  apy_30d: z.number().nullable(),
}

/** The first sample of each hour with the APYs seen from it; `vault_daily` has those that open a day. */
export default defineProjection({
  name: 'vault_hourly',
  version: 1,
  handles: ['StateSampled'],
  isSeldom: true,
  face: 'core',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    vault: z.string(),
    hour: z.number(),
    ...sample,
    opens_day: z.number(),
    growth: z.string().nullable(),
    growth_weight: z.string().nullable(),
    supply_changes: z.number().nullable(),
  }),
  beside: [
    {
      name: 'vault_daily',
      row: z.object({ chain_id: z.number(), vault: z.string(), day: z.string(), ...sample }),
    },
  ],
})
