import { defineProjection } from '../projection.ts'

/** Curated facts with their history. */
export default defineProjection({
  name: 'registry_fact',
  version: 1,
  handles: ['FactRecorded', 'FactRemoved'],
  face: 'core',
  streams: 'registry',
})
