import { defineProjection } from '../projection.ts'

/** Settings that have to do with lending markets, of all protocols, as they change. */
export default defineProjection({
  name: 'lending_setting',
  version: 1,
  handles: [
    'RiskParametersChanged',
    'CapChanged',
    'FeeChanged',
    'ReserveFlagChanged',
    'OracleChanged',
    'RateModelChanged',
  ],
  face: 'lending',
  streams: 'evm',
})
