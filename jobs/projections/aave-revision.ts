import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Versions of the code of Aave pools, which say how their tokens round. */
export default defineProjection({
  name: 'aave_revision',
  version: 1,
  handles: ['PoolRevisionSampled'],
  face: 'lending',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    token: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    pool: z.string(),
    revision: z.number(),
  }),
})
