import { defineProjection } from '../projection.ts'

/** Aave v3: reserves with their rates and indexes; what users chose, their scaled balances and the totals. */
export default defineProjection({
  name: 'aave_reserve',
  version: 1,
  handles: ['ReserveListed'],
  face: 'lending',
  streams: 'evm',
  beside: [
    { name: 'aave_token', handles: ['ReserveTokenInitialized'] },
    { name: 'aave_index', handles: ['RateUpdated'] },
    { name: 'aave_choice', handles: ['CollateralEnabled', 'CollateralDisabled', 'EModeChanged'] },
    { name: 'aave_balance', handles: ['ScaledMinted', 'ScaledBurned', 'ScaledTransferred'] },
    { name: 'aave_total', handles: ['ScaledMinted', 'ScaledBurned', 'ScaledTransferred'] },
  ],
})
