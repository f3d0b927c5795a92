import type { Pipeline } from '../pipeline.ts'

const TABLES = ['market', 'description', 'state', 'rate', 'trade'].map(name => `fixed_term_${name}`)

/** Checksums of what a reader sees, positions left out. */
export async function sums(pipeline: Pipeline): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const table of [...TABLES, 'pt_balance']) {
    const [row] = await pipeline.rows<{ sum: string }>(
      `SELECT concat(toString(count()), ' ', toString(sum(cityHash64(toString(tuple(* EXCEPT position)))))) AS sum FROM ${table} FINAL
       WHERE (chain_id, position) NOT IN (SELECT stream, position FROM retracted)`,
    )
    found[table] = row?.sum ?? ''
  }
  return found
}
