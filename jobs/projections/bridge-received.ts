import { defineProjection } from '../projection.ts'

/** Amounts that arrived on a chain from another one. */
export default defineProjection({
  name: 'bridge_received',
  version: 1,
  handles: ['BridgeReceived'],
  face: 'bridge',
  streams: 'evm',
})
