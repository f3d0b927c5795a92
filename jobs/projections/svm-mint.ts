import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** What mints of shares and assets say of themselves. */
export default defineProjection({
  name: 'svm_mint',
  version: 1,
  handles: ['SvmMintDescribed'],
  face: 'svm',
  streams: 'svm',
  row: z.object({
    chain_id: z.number(),
    mint: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    token_program: z.string(),
    decimals: z.number(),
    mint_authority: z.string(),
    freeze_authority: z.string(),
    name: z.string(),
    symbol: z.string(),
  }),
})
