import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Prices of shares that programs of chains of Solana's kind wrote down themselves. */
export default defineProjection({
  name: 'svm_price',
  version: 1,
  handles: ['SvmPriceUpdated'],
  face: 'svm',
  streams: 'svm',
  row: z.object({
    chain_id: z.number(),
    vault: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    price_assets: z.string(),
    price_shares: z.string(),
    tx_hash: z.string(),
  }),
})
