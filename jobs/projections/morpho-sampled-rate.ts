import { defineProjection } from '../projection.ts'

/** What rate models of Morpho's markets answer, other than the adaptive one. */
export default defineProjection({
  name: 'morpho_sampled_rate',
  version: 1,
  handles: ['BorrowRateSampled'],
  face: 'lending',
  streams: 'evm',
})
