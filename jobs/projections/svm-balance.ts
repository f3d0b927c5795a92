import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Shares by token account and owner, as they are from a moment on. */
export default defineProjection({
  name: 'svm_balance',
  version: 1,
  handles: ['SvmShareAccountChanged'],
  face: 'svm',
  streams: 'svm',
  row: z.object({
    holder: z.string(),
    chain_id: z.number(),
    mint: z.string(),
    token_account: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    amount: z.string(),
  }),
})
