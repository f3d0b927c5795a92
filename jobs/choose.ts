import type pg from 'pg'
import { ConfigError } from '../db/process/errors.ts'
import { listStreams, type StreamRow } from './checkpoints.ts'
import { loadProjections, type Projection, tablesOf } from './projection.ts'

/** What a command is to be about: every projection and stream, or those that its options name. */
export async function choose(
  pool: pg.Pool,
  options: { projection?: string; chain?: string },
): Promise<{ projections: Projection[]; streams: StreamRow[] }> {
  const all = await loadProjections()
  // An alert names the table that differs, which may be one beside its projection's own.
  const projections = options.projection
    ? all.filter(projection => tablesOf(projection).some(table => table === options.projection))
    : all
  if (projections.length === 0) {
    throw new ConfigError(
      `No projection ${options.projection}. There are: ${all.map(({ name }) => name).join(', ')}.`,
    )
  }
  const known = await listStreams(pool)
  const streams = options.chain ? known.filter(({ name }) => name === options.chain) : known
  if (options.chain && streams.length === 0) {
    throw new ConfigError(
      `Nothing is stored of ${options.chain}. There are: ${known.map(({ name }) => name).join(', ') || 'no streams yet'}.`,
    )
  }
  return { projections, streams }
}
