import type { Address } from 'viem'
import type { Node } from '../chain/node.ts'
import type { World } from '../chain/world.ts'
import type { Pipeline } from '../pipeline.ts'

/** What the comparisons of all families work on. */
export interface Walk {
  node: Node
  world: World
  pipeline: Pipeline
  /** Whose positions are compared. */
  everyone: Address[]
  counted: { steps: number; reverted: number; values: number }
}

export const big = (text: string | undefined) => BigInt(text ?? '0')

/** The last row of each key at a block. */
export async function lastRows(
  pipeline: Pipeline,
  table: string,
  keys: string,
  columns: string,
  block: number,
): Promise<Record<string, string>[]> {
  const names = columns.split(', ')
  return pipeline.rows(
    `SELECT ${keys}, ${names.map((name, i) => `toString(tupleElement(last, ${i + 1})) AS ${name}`).join(', ')} FROM (
       SELECT ${keys}, argMax(tuple(${columns}), position) AS last FROM ${table}
       WHERE block_number <= ${block} AND (chain_id, position) NOT IN (SELECT stream, position FROM retracted)
       GROUP BY ${keys})`,
  )
}
