import type pg from 'pg'
import type { WatchedSource } from './watched-sources.ts'

/** A contract, some of whose logs from before its discovery are not stored yet: those above `cursor`, up to `to`. */
export interface OlderSource extends WatchedSource {
  cursor: number
  to: number
  /** Unix seconds of the chain's time before which no more of it is fetched. */
  notBefore?: number | undefined
}

/** Those that wait. */
export async function readOlderSources(pool: pg.Pool, stream: number): Promise<OlderSource[]> {
  const { rows } = await pool.query<OlderSource>(
    `SELECT kind, contract, cursor, to_block AS to, not_before AS "notBefore" FROM older_logs WHERE stream = $1`,
    [stream],
  )
  return rows
}

/** Keeps how far they are, in the transaction that stores their logs; those that are complete go. */
export async function storeOlderSources(
  tx: pg.PoolClient,
  stream: number,
  sources: readonly OlderSource[],
): Promise<void> {
  if (sources.length === 0) return
  await tx.query(
    `INSERT INTO older_logs (stream, kind, contract, cursor, to_block, not_before)
     SELECT $1, * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
     ON CONFLICT (stream, kind, contract, to_block) DO UPDATE SET cursor = excluded.cursor, not_before = excluded.not_before`,
    [
      stream,
      sources.map(({ kind }) => kind),
      sources.map(({ contract }) => contract),
      sources.map(({ cursor }) => cursor),
      sources.map(({ to }) => to),
      sources.map(({ notBefore }) => notBefore ?? 0),
    ],
  )
  if (sources.some(({ cursor, to }) => cursor >= to))
    await tx.query('DELETE FROM older_logs WHERE stream = $1 AND cursor >= to_block', [stream])
}

/** After a rewind the blocks above a height come with the stream again, and with them what is logged there. */
export async function lowerOlderSources(tx: pg.PoolClient, stream: number, to: number): Promise<void> {
  await tx.query(
    `WITH above AS (
       DELETE FROM older_logs WHERE stream = $1 AND to_block > $2 RETURNING *
     )
     INSERT INTO older_logs AS w (stream, kind, contract, cursor, to_block, not_before, added_at)
     SELECT stream, kind, contract, min(cursor), $2, min(not_before), min(added_at) FROM above
     WHERE cursor < $2 GROUP BY stream, kind, contract
     ON CONFLICT (stream, kind, contract, to_block)
     DO UPDATE SET cursor = least(w.cursor, excluded.cursor), not_before = least(w.not_before, excluded.not_before)`,
    [stream, to],
  )
}
