import { join } from 'node:path'
import type { EventType } from '../db/events/vocabulary.ts'
import type { Face } from '../db/faces.ts'
import { VaultlogError } from '../db/process/errors.ts'
import { findModules } from '../db/process/modules.ts'
import type { StreamKind } from '../db/streams.ts'

/**
 * A read model. Its rows are made inside ClickHouse: the migration of the same name holds the table `<name>` and the
 * parameterised view `<name>_rows(stream, from, to)`, which gives the rows that follow from the events at positions
 * (from, to] of one stream. The runner sees to it that a batch ends at a block boundary, and that a retraction stands at
 * its beginning, or takes back none of the events that the view sees: so the view may read the table itself (positions ≤
 * from, less retracted ones) or a head beside it for what went before.
 */
export interface Projection {
  /** Table, job, metric label. */
  name: string
  /** Raised when rows change meaning: the live table has to be replayed then. */
  version: number
  /** The types its `<name>_rows` reads: a batch without any of them needs no statement. */
  handles: readonly EventType[]
  /**
   * Few blocks give it rows, and its view is dear to plan: `<name>_due(stream, from, to)` has a row where a batch may
   * give any.
   */
  isSeldom?: boolean
  /** The family that it is of: read together, served up to where the slowest of them stands. */
  face: Face
  /** Which streams: those of this kind, and of no other. */
  streams: StreamKind
  /**
   * Further tables filled from the same batch, in this order, each by its own `<name>_rows`, which may read what the
   * batch has put into the ones before it. They are replayed, swapped and checkpointed together with the projection.
   */
  beside?: readonly Companion[]
}

export type Companion = Part & (Head | { isHead?: never; emptyWhere?: never })

interface Part {
  name: string
  /** The table that the rows go into, where an earlier one already has the name: only what retractions make. */
  into?: string
  /** The types its `<name>_rows` reads; without, it follows from the projection's own rows. */
  handles?: readonly EventType[]
}

/** One row per key, the newest: it cannot be made from the middle of a stream, and so nor can the projection. */
interface Head {
  isHead: true
  /** Which rows say nothing, as an SQL condition: what was taken back may have left such a row of its key, or none. */
  emptyWhere: string
}

/** What fills a projection's tables, in order, each by its own `<name>_rows`. */
export function partsOf(projection: Projection): Companion[] {
  return [projection, ...(projection.beside ?? [])]
}

/** The tables a projection fills, in the order in which a batch fills them. */
export function tablesOf(projection: Projection): string[] {
  return partsOf(projection).flatMap(({ name, into }) => (into ? [] : [name]))
}

/** The parts that events of these types concern, in order. */
export function changesBy(projection: Projection, types: ReadonlySet<string>): Companion[] {
  return partsOf(projection).filter(({ handles = projection.handles }) =>
    handles.some(type => types.has(type)),
  )
}

/** Whether its rows can only be made from a stream's beginning. */
export function hasHead(projection: Projection): boolean {
  return (projection.beside ?? []).some(({ isHead }) => isHead)
}

export function defineProjection(projection: Projection): Projection {
  return projection
}

class ProjectionError extends VaultlogError {
  readonly code = 'PROJECTION'
}

/** All projections, by name: the modules in jobs/projections. */
export async function loadProjections(): Promise<Projection[]> {
  const found = await findModules(join(import.meta.dirname, 'projections'), 'files')
  return found.map(({ name, value }) => {
    const projection = value as Projection | undefined
    if (!projection?.name)
      throw new ProjectionError(`jobs/projections/${name}.ts has no projection as its default export.`)
    if (projection.name.replaceAll('_', '-') !== name)
      throw new ProjectionError(
        `jobs/projections/${name}.ts defines ${projection.name}: file and table go by one name.`,
      )
    return projection
  })
}
