import { defineProjection } from '../projection.ts'

/** Versions of the code of Aave pools, which say how their tokens round. */
export default defineProjection({
  name: 'aave_revision',
  version: 1,
  handles: ['PoolRevisionSampled'],
  face: 'lending',
  streams: 'evm',
})
