import { z } from 'zod'
import { defineProjection } from '../projection.ts'

const at = { timestamp: z.number(), position: z.number(), block_number: z.number() }

/** What lending markets' oracles answered. */
export default defineProjection({
  name: 'oracle_price',
  version: 1,
  handles: ['OraclePriceSampled'],
  face: 'lending',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    contract: z.string(),
    market: z.string(),
    asset: z.string(),
    ...at,
    oracle: z.string(),
    price: z.string().nullable(),
  }),
})
