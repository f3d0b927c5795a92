import { defineProjection } from '../projection.ts'

/** What reserves of Aave can pay out. */
export default defineProjection({
  name: 'aave_liquidity',
  version: 1,
  handles: ['ReserveLiquiditySampled'],
  face: 'lending',
  streams: 'evm',
})
