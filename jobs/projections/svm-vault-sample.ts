import { defineProjection } from '../projection.ts'

/** Samples of the state of vaults, and the first of each hour with the APYs that end at it. */
export default defineProjection({
  name: 'svm_vault_sample',
  version: 1,
  handles: ['SvmVaultSampled'],
  face: 'svm',
  streams: 'svm',
  beside: [{ name: 'svm_vault_hourly', handles: ['SvmVaultSampled'] }],
})
