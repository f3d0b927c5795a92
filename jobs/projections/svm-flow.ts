import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Deposits into vaults of chains of Solana's kind, and withdrawals. */
export default defineProjection({
  name: 'svm_flow',
  version: 1,
  handles: ['SvmDeposited', 'SvmWithdrawn'],
  face: 'svm',
  streams: 'svm',
  row: z.object({
    account: z.string(),
    chain_id: z.number(),
    vault: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    kind: z.string(),
    assets: z.string().nullable(),
    shares: z.string(),
    sender: z.string(),
    tx_hash: z.string(),
    instruction_index: z.number(),
    place: z.number(),
    path: z.string(),
  }),
})
