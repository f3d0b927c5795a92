import { defineProjection } from '../projection.ts'

/** Vaults of concentrated liquidity: what they are of, sampled states, what was moved, and who holds shares. */
export default defineProjection({
  name: 'amm_vault',
  version: 1,
  handles: ['AmmVaultCreated'],
  face: 'amm',
  streams: 'evm',
  beside: [
    { name: 'amm_description', handles: ['AmmVaultDescribed'] },
    { name: 'amm_state', handles: ['AmmVaultSampled'] },
    { name: 'amm_flow', handles: ['AmmDeposited', 'AmmWithdrawn', 'AmmRebalanced', 'AmmFeesCollected'] },
    { name: 'amm_share', handles: ['AmmShareTransferred'] },
  ],
})
