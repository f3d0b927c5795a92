import type pg from 'pg'
import { UnknownStreamError } from './event-store.ts'
import { HOT_BLOCKS, type HotBlock } from './hot-blocks.ts'

export interface Cursor {
  height: number
  hash: string
}

/** What the handling of a batch stands on. */
export interface StreamState {
  /** Position of the newest event. */
  position: number
  /** The finalized block up to which everything is stored. */
  final: Cursor
  hot: HotBlock[]
}

/** At one moment, by one statement, which may lock the stream: whoever appends is alone (invariant 3). */
export async function readStreamState(
  db: pg.Pool | pg.PoolClient,
  stream: number,
  lock: 'FOR UPDATE' | '' = '',
): Promise<StreamState> {
  const { rows } = await db.query<{ position: number; height: number; hash: string; hot: HotBlock[] }>(
    `SELECT head AS position, final_height AS height, final_hash AS hash, ${HOT_BLOCKS} AS hot FROM stream WHERE id = $1 ${lock}`,
    [stream],
  )
  const [row] = rows
  if (!row) throw new UnknownStreamError(stream)
  return { position: row.position, final: { height: row.height, hash: row.hash }, hot: row.hot }
}

/** One for each height, from the lowest up: a block may have several ranges of positions. */
export function topOf(hot: readonly HotBlock[]): Cursor[] {
  const top = new Map<number, string>()
  for (const { height, hash } of hot) if (!top.has(height)) top.set(height, hash)
  return [...top].map(([height, hash]) => ({ height, hash }))
}

export const describeState = ({ position, final, hot }: StreamState): string =>
  `block ${hot.at(-1)?.height ?? final.height}, position ${position}`
