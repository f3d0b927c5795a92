import { defineProjection } from '../projection.ts'

/** Amounts that left a chain for another one. */
export default defineProjection({
  name: 'bridge_sent',
  version: 1,
  handles: ['BridgeSent'],
  face: 'bridge',
  streams: 'evm',
})
