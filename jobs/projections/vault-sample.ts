import { defineProjection } from '../projection.ts'

/** Every sample of a vault's state. */
export default defineProjection({
  name: 'vault_sample',
  version: 1,
  handles: ['StateSampled'],
  face: 'core',
  streams: 'evm',
})
