import { defineProjection } from '../projection.ts'

/** Compound v3: configurations, sampled totals and principals, collateral balances after each change. */
export default defineProjection({
  name: 'comet_market',
  version: 1,
  handles: ['CometConfigured'],
  face: 'lending',
  streams: 'evm',
  beside: [
    { name: 'comet_asset', handles: ['CometAssetConfigured'] },
    { name: 'comet_state', handles: ['CometStateSampled'] },
    { name: 'comet_principal', handles: ['PrincipalSampled'] },
    {
      name: 'comet_collateral',
      handles: ['CollateralSupplied', 'CollateralWithdrawn', 'CollateralTransferred', 'CollateralAbsorbed'],
    },
    {
      name: 'comet_collateral_total',
      handles: ['CollateralSupplied', 'CollateralWithdrawn', 'CollateralTransferred', 'CollateralAbsorbed'],
    },
  ],
})
