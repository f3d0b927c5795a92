import { defineProjection } from '../projection.ts'

/** Rewards that distributors were given for the holders of vaults, epoch by epoch. */
export default defineProjection({
  name: 'reward_period',
  version: 1,
  handles: ['RewardPeriodFunded'],
  face: 'core',
  streams: 'evm',
})
