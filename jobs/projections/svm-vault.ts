import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Vaults of chains of Solana's kind, and which accounts each is made of. */
export default defineProjection({
  name: 'svm_vault',
  version: 1,
  handles: ['SvmVaultIdentified'],
  face: 'svm',
  streams: 'svm',
  row: z.object({
    chain_id: z.number(),
    vault: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    protocol: z.string(),
    program: z.string(),
    share_mint: z.string(),
    asset_mint: z.string(),
    authority: z.string(),
    reserve: z.string(),
  }),
})
