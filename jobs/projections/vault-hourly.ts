import { defineProjection } from '../projection.ts'

/** The first sample of each hour with the APYs seen from it; `vault_daily` has those that open a day. */
export default defineProjection({
  name: 'vault_hourly',
  version: 1,
  handles: ['StateSampled'],
  isSeldom: true,
  face: 'core',
  streams: 'evm',
  beside: [{ name: 'vault_daily' }],
})
