import { defineProjection } from '../projection.ts'

/** Rewards paid out, by account. */
export default defineProjection({
  name: 'reward_claim',
  version: 1,
  handles: ['RewardClaimed'],
  face: 'core',
  streams: 'evm',
})
