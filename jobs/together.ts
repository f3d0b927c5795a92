import type { ClickHouseClient } from '@clickhouse/client'
import type pg from 'pg'
import { log } from '../db/process/log.ts'
import type { Turns } from '../db/process/turns.ts'
import { beginTogether, finishBatch, withFreeLocks } from './checkpoints.ts'
import type { MirroredBatch } from './mirror.ts'
import type { Projection } from './projection.ts'
import { applyBatch } from './runner.ts'

type WholeBatch = MirroredBatch & { types: ReadonlySet<string> }

/** A few whole blocks: what every projection takes as its next batch, as they are. */
export const canTogether = (batch: MirroredBatch): batch is WholeBatch =>
  batch.types !== undefined && batch.isWhole === true

/**
 * Brings a batch that was mirrored just now into the projections that it concerns: their cursors begin in one statement and
 * move in one, and no job is made for any of them. One that stands elsewhere, that another worker holds or that fails is left to
 * its own job, by which a killed batch is repeated as well. Gives the names of those that have it.
 */
export function projectTogether(
  statements: Turns,
  { pool, clickhouse }: { pool: pg.Pool; clickhouse: ClickHouseClient },
  projections: readonly Projection[],
  stream: number,
  batch: WholeBatch,
): Promise<string[]> {
  const names = projections.map(({ name }) => name)
  return withFreeLocks(pool, names, stream, async (free, client) => {
    const begun = await beginTogether(
      client,
      projections.filter(({ name }) => free.includes(name)),
      stream,
      batch,
    )
    const apply = async (projection: Projection): Promise<string[]> => {
      try {
        await statements.turn(() =>
          applyBatch(pool, clickhouse, projection, stream, { ...batch, hasForks: false }),
        )
        return [projection.name]
      } catch (error) {
        // Its own job tries again, and tells of what stays.
        log.debug({ projection: projection.name, stream, error: (error as Error).message }, 'left to its job')
        return []
      }
    }
    const applied = await Promise.all(projections.filter(({ name }) => begun.includes(name)).map(apply))
    await finishBatch(client, applied.flat(), stream, batch.to, batch.block)
    return applied.flat()
  })
}
