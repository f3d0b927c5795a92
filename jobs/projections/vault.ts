import { defineProjection } from '../projection.ts'

/** The catalogue: vaults as they were discovered; `vault_made`, who made them. */
export default defineProjection({
  name: 'vault',
  version: 1,
  handles: ['VaultDiscovered'],
  face: 'core',
  streams: 'evm',
  beside: [{ name: 'vault_made', handles: ['VaultCreated', 'VaultDiscovered'] }],
})
