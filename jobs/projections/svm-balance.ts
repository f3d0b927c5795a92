import { defineProjection } from '../projection.ts'

/** Shares by token account and owner, as they are from a moment on. */
export default defineProjection({
  name: 'svm_balance',
  version: 1,
  handles: ['SvmShareAccountChanged', 'SvmShareAccountSampled'],
  face: 'svm',
  streams: 'svm',
})
