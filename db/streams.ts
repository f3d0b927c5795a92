import type pg from 'pg'

/**
 * What the events of a stream are of. `evm`: one of the networks of the API, by its chain id. `svm`: a chain of Solana's
 * kind, whose accounts are 32 bytes. `registry`: curated facts, stream 0. A read model is made of the streams of one kind.
 */
export type StreamKind = 'evm' | 'svm' | 'registry'

/** Solana has no chain id: its stream bears a number of our own, "SolM" in ASCII. */
export const SOLANA = { id: 1_399_811_149, name: 'solana' } as const

/** A stream never changes its kind. */
const kinds = new WeakMap<pg.Pool, Map<number, StreamKind>>()

/** Undefined: nobody has registered it. */
export async function kindOfStream(pool: pg.Pool, stream: number): Promise<StreamKind | undefined> {
  const known = kinds.get(pool) ?? new Map<number, StreamKind>()
  kinds.set(pool, known)
  const kind = known.get(stream)
  if (kind) return kind
  const { rows } = await pool.query<{ kind: StreamKind }>('SELECT kind FROM stream WHERE id = $1', [stream])
  if (rows[0]) known.set(stream, rows[0].kind)
  return rows[0]?.kind
}
