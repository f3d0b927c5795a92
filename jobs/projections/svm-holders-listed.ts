import { defineProjection } from '../projection.ts'

/** From when on all holders of a share are known. */
export default defineProjection({
  name: 'svm_holders_listed',
  version: 1,
  handles: ['SvmHoldersListed'],
  face: 'svm',
  streams: 'svm',
})
