import { defineProjection } from '../projection.ts'

/** What moves totals or positions. */
const ACTS = [
  'MarketCreated',
  'Supplied',
  'Withdrawn',
  'CollateralSupplied',
  'CollateralWithdrawn',
  'Borrowed',
  'Repaid',
  'Liquidated',
  'InterestAccrued',
  'FeeChanged',
] as const

/** Morpho Blue: markets as created, who is given fees, totals of markets and positions after each change. */
export default defineProjection({
  name: 'morpho_market',
  version: 1,
  handles: ['MarketCreated'],
  face: 'lending',
  streams: 'evm',
  beside: [
    { name: 'morpho_fee_recipient', handles: ['OwnerChanged'] },
    { name: 'morpho_state', handles: ACTS },
    { name: 'morpho_position', handles: ACTS },
  ],
})
