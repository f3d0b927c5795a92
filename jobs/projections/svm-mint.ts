import { defineProjection } from '../projection.ts'

/** What mints of shares and assets say of themselves. */
export default defineProjection({
  name: 'svm_mint',
  version: 1,
  handles: ['SvmMintDescribed'],
  face: 'svm',
  streams: 'svm',
})
