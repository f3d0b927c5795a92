import { defineProjection } from '../projection.ts'

/** What lending markets' oracles answered. */
export default defineProjection({
  name: 'oracle_price',
  version: 1,
  handles: ['OraclePriceSampled'],
  face: 'lending',
  streams: 'evm',
})
