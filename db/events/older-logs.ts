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
