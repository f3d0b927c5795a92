import { defineProjection } from '../projection.ts'

/** What Morpho's adaptive rate model says of a market at each accrual. */
export default defineProjection({
  name: 'morpho_rate',
  version: 1,
  handles: ['RateAtTargetChanged'],
  face: 'lending',
  streams: 'evm',
})
