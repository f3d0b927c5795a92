import type pg from 'pg'
import type { ChainRpc } from '../source/rpc.ts'

export interface CommonBlock {
  /** The newest stored block that the chain has; undefined where it has none of them. */
  common: number | undefined
  /** The oldest that was found to be another one on the chain now; undefined where all are the same. */
  different: number | undefined
}

interface StoredBlock {
  number: number
  hash: string
}

/** Blocks in which a stored one is looked for first. */
const NEAR = 1_000

/**
 * Where the chain as a node has it now and the stored one part: found by bisection over the hashes of stored blocks, since
 * what stands on a block that is not the chain's is not the chain's either.
 */
export async function findCommonBlock(
  pool: pg.Pool,
  stream: number,
  rpc: Pick<ChainRpc, 'header'>,
): Promise<CommonBlock> {
  const { rows } = await pool.query<{ head: number }>(
    'SELECT head_height AS head FROM stream WHERE id = $1',
    [stream],
  )
  let high = rows[0]?.head ?? -1
  let low = -1
  const answer: CommonBlock = { common: undefined, different: undefined }
  // The newest first: mostly all of them are the same.
  for (let at = high; low < high; at = Math.ceil((low + high) / 2)) {
    const stored = await newestStored(pool, stream, low, at)
    if (!stored) low = at
    else if ((await rpc.header(stored.number))?.hash === stored.hash) {
      low = at
      answer.common = stored.number
    } else {
      high = stored.number - 1
      answer.different = stored.number
    }
  }
  return answer
}

/** The newest block in (above, upTo] whose hash is stored and not retracted. */
async function newestStored(
  pool: pg.Pool,
  stream: number,
  above: number,
  upTo: number,
): Promise<StoredBlock | undefined> {
  for (let blocks = NEAR; ; blocks *= 8) {
    const from = Math.max(above, upTo - blocks)
    const { rows } = await pool.query<StoredBlock>(
      `WITH gone AS (
         SELECT int8range((data->>'fromPosition')::bigint, (data->>'toPosition')::bigint, '[]') AS positions
         FROM event_log WHERE stream = $1 AND type = 'BlockRetracted'
       )
       (SELECT block_number AS number, '0x' || encode(block_hash, 'hex') AS hash FROM event_log e
        WHERE stream = $1 AND block_number > $2 AND block_number <= $3 AND type <> 'BlockRetracted'
          AND NOT EXISTS (SELECT FROM gone WHERE e.position <@ gone.positions)
        ORDER BY block_number DESC LIMIT 1)
       UNION ALL SELECT height, hash FROM hot_block WHERE stream = $1 AND height > $2 AND height <= $3
       UNION ALL SELECT final_height, final_hash FROM stream
         WHERE id = $1 AND final_hash <> '0x' AND final_height > $2 AND final_height <= $3
       ORDER BY number DESC LIMIT 1`,
      [stream, from, upTo],
    )
    if (rows[0] || from <= above) return rows[0]
  }
}
