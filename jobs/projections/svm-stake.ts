import { defineProjection } from '../projection.ts'

/** Shares staked in farms by owner, as they are from a moment on. */
export default defineProjection({
  name: 'svm_stake',
  version: 1,
  handles: ['SvmStakeChanged', 'SvmStakeSampled'],
  face: 'svm',
  streams: 'svm',
})
