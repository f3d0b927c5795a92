import type { Face } from '../db/faces.ts'
import { tablesOf } from '../jobs/projection.ts'
import type { Pipeline } from './pipeline.ts'

/** Rows and checksums of what a reader sees of all tables of one face, positions left out. */
export async function familySums(
  { projections, rows }: Pipeline,
  face: Face,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const table of projections.filter(one => one.face === face).flatMap(tablesOf)) {
    const [row] = await rows<{ sum: string }>(
      `SELECT concat(toString(count()), ' ', toString(sum(cityHash64(toString(tuple(* EXCEPT position)))))) AS sum FROM ${table} FINAL
       WHERE (chain_id, position) NOT IN (SELECT stream, position FROM retracted)`,
    )
    found[table] = row?.sum ?? ''
  }
  return found
}
