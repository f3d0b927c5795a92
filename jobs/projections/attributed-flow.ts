import { defineProjection } from '../projection.ts'

/** Deposits and redemptions by the API key whose suffix their transaction bears. */
export default defineProjection({
  name: 'attributed_flow',
  version: 1,
  handles: ['Deposited', 'Redeemed'],
  face: 'attribution',
  streams: 'evm',
})
