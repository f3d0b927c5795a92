import { defineProjection } from '../projection.ts'

/** Prices of shares that programs of chains of Solana's kind wrote down themselves. */
export default defineProjection({
  name: 'svm_price',
  version: 1,
  handles: ['SvmPriceUpdated'],
  face: 'svm',
  streams: 'svm',
})
