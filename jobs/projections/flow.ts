import { defineProjection } from '../projection.ts'

/** Deposits and redemptions by owner of the shares. */
export default defineProjection({
  name: 'flow',
  version: 1,
  handles: ['Deposited', 'Redeemed'],
  face: 'core',
  streams: 'evm',
})
