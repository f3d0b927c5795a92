import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Curated facts with their history. */
export default defineProjection({
  name: 'registry_fact',
  version: 1,
  handles: ['FactRecorded', 'FactRemoved'],
  face: 'core',
  streams: 'registry',
  row: z.object({
    subject: z.string(),
    kind: z.string(),
    position: z.number(),
    block_number: z.number(),
    timestamp: z.number(),
    value: z.string(),
    removed: z.number(),
  }),
})
