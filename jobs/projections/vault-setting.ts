import { defineProjection } from '../projection.ts'

/** Fees, caps and pauses of vaults, every change. */
export default defineProjection({
  name: 'vault_setting',
  version: 1,
  handles: ['FeeChanged', 'CapChanged', 'Paused', 'Unpaused'],
  face: 'core',
  streams: 'evm',
})
