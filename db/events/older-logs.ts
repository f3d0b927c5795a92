import type pg from 'pg'
import type { WatchedSource } from './watched-sources.ts'

/** A contract, some of whose logs from before its discovery are not stored yet: those above `cursor`, up to `to`. */
export interface OlderSource extends WatchedSource {
  cursor: number
  to: number
}

/** Those that wait, what came first before what came later. */
export async function readOlderSources(pool: pg.Pool, stream: number): Promise<OlderSource[]> {
  const { rows } = await pool.query<OlderSource>(
    `SELECT kind, contract, cursor, to_block AS to FROM older_logs WHERE stream = $1 ORDER BY added_at, kind, contract`,
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
    `INSERT INTO older_logs (stream, kind, contract, cursor, to_block)
     SELECT $1, * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[])
     ON CONFLICT (stream, kind, contract) DO UPDATE SET cursor = excluded.cursor, to_block = excluded.to_block`,
    [
      stream,
      sources.map(({ kind }) => kind),
      sources.map(({ contract }) => contract),
      sources.map(({ cursor }) => cursor),
      sources.map(({ to }) => to),
    ],
  )
  if (sources.some(({ cursor, to }) => cursor >= to))
    await tx.query('DELETE FROM older_logs WHERE stream = $1 AND cursor >= to_block', [stream])
}
