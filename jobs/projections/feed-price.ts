import { defineProjection } from '../projection.ts'

/** Prices as feeds reported them. */
export default defineProjection({
  name: 'feed_price',
  version: 1,
  handles: ['PriceReported'],
  face: 'core',
  streams: 'evm',
})
