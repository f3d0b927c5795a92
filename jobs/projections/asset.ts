import { z } from 'zod'
import { defineProjection } from '../projection.ts'

const at = { timestamp: z.number(), position: z.number(), block_number: z.number() }

/** Tokens of lending markets, as they describe themselves. */
export default defineProjection({
  name: 'asset',
  version: 1,
  handles: ['AssetDescribed'],
  face: 'core',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    asset: z.string(),
    ...at,
    name: z.string(),
    symbol: z.string(),
    decimals: z.number(),
  }),
})
