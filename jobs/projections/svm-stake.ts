import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Shares staked in farms by owner, as they are from a moment on. */
export default defineProjection({
  name: 'svm_stake',
  version: 1,
  handles: ['SvmStakeChanged', 'SvmStakeSampled'],
  face: 'svm',
  streams: 'svm',
  row: z.object({
    holder: z.string(),
    chain_id: z.number(),
    mint: z.string(),
    stake_account: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    farm: z.string(),
    amount: z.string(),
  }),
})
