import { join } from 'node:path'

/** Recorded chain data; they are no part of the repository. */
export const RECORDINGS = process.env['RECORDINGS_DIR'] ?? join(import.meta.dirname, '../../shared/data')
