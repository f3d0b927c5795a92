import { defineProjection } from '../projection.ts'

/** Vaults of chains of Solana's kind, and which accounts each is made of. */
export default defineProjection({
  name: 'svm_vault',
  version: 1,
  handles: ['SvmVaultIdentified'],
  face: 'svm',
  streams: 'svm',
})
