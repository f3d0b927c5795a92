import { defineProjection } from '../projection.ts'

/** Streams of rewards as the vaults that pay them out state them. */
export default defineProjection({
  name: 'reward_stream',
  version: 1,
  handles: ['RewardStreamSampled'],
  face: 'core',
  streams: 'evm',
})
