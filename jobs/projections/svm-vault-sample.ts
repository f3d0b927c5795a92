import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Samples of the state of vaults, and the first of each hour with the APYs that end at it. */
export default defineProjection({
  name: 'svm_vault_sample',
  version: 1,
  handles: ['SvmVaultSampled'],
  face: 'svm',
  streams: 'svm',
  row: z.object({
    chain_id: z.number(),
    vault: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    reason: z.string(),
    total_assets: z.string().nullable(),
    total_supply: z.string().nullable(),
    price_assets: z.string().nullable(),
    price_shares: z.string().nullable(),
    share_price: z.number().nullable(),
    idle_assets: z.string().nullable(),
    epoch: z.number().nullable(),
    updated_epoch: z.number().nullable(),
  }),
  beside: [
    {
      name: 'svm_vault_hourly',
      handles: ['SvmVaultSampled'],
      row: z.object({
        chain_id: z.number(),
        vault: z.string(),
        hour: z.number(),
        position: z.number(),
        block_number: z.number(),
        timestamp: z.number(),
        total_assets: z.string().nullable(),
        total_supply: z.string().nullable(),
        price_assets: z.string().nullable(),
        price_shares: z.string().nullable(),
        share_price: z.number().nullable(),
        apy_1h: z.number().nullable(),
        apy_1d: z.number().nullable(),
        apy_7d: z.number().nullable(),
        apy_30d: z.number().nullable(),
      }),
    },
  ],
})
