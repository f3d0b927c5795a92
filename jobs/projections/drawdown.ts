import { defineProjection } from '../projection.ts'

/** Falls of the share price within a UTC day, running. */
export default defineProjection({
  name: 'drawdown',
  version: 1,
  handles: ['StateSampled'],
  face: 'core',
  streams: 'evm',
})
