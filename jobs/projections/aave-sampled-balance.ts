import { z } from 'zod'
import { defineProjection } from '../projection.ts'

const at = { timestamp: z.number(), position: z.number(), block_number: z.number() }

/** Scaled balances of Aave v3.5 and later, as the tokens say them, and the totals. */
export default defineProjection({
  name: 'aave_sampled_balance',
  version: 1,
  handles: ['ScaledBalanceSampled'],
  streams: 'chains',
  row: z.object({
    chain_id: z.number(),
    account: z.string(),
    token: z.string(),
    ...at,
    scaled: z.string(),
  }),
  beside: [
    {
      name: 'aave_sampled_total',
      row: z.object({ chain_id: z.number(), token: z.string(), ...at, scaled: z.string() }),
    },
  ],
})
