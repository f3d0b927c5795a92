import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Settings that have to do with lending markets, of all protocols, as they change. */
export default defineProjection({
  name: 'lending_setting',
  version: 1,
  handles: [
    'RiskParametersChanged',
    'CapChanged',
    'FeeChanged',
    'ReserveFlagChanged',
    'OracleChanged',
    'RateModelChanged',
  ],
  face: 'lending',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    protocol: z.string(),
    source: z.string(),
    market: z.string(),
    key: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    value: z.string(),
  }),
})
