import { defineProjection } from '../projection.ts'

/** Deposits into vaults of chains of Solana's kind, and withdrawals. */
export default defineProjection({
  name: 'svm_flow',
  version: 1,
  handles: ['SvmDeposited', 'SvmWithdrawn'],
  face: 'svm',
  streams: 'svm',
})
