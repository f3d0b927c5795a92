import { defineProjection } from '../projection.ts'

/** Tokens of lending markets, as they describe themselves. */
export default defineProjection({
  name: 'asset',
  version: 1,
  handles: ['AssetDescribed'],
  face: 'core',
  streams: 'evm',
})
