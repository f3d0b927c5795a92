import { defineProjection } from '../projection.ts'

/** What accounts did in lending markets. */
export default defineProjection({
  name: 'lending_event',
  version: 1,
  handles: [
    'Supplied',
    'Withdrawn',
    'CollateralSupplied',
    'CollateralWithdrawn',
    'Borrowed',
    'Repaid',
    'Liquidated',
    'DebtAbsorbed',
    'CollateralAbsorbed',
  ],
  face: 'lending',
  streams: 'evm',
})
