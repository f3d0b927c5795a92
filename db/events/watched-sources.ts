import type pg from 'pg'
import { VaultlogError } from '../process/errors.ts'

/** Something watched by code or configuration: a contract of a kind, or ('' as contract) a kind wherever it logs. */
export interface WatchedSource {
  kind: string
  contract: string
}

/** One whose history is not all stored yet. */
export interface PendingSource extends WatchedSource {
  /** Everything of it up to this block is stored. */
  cursor: number
  /** It is watched because of an event of the history of another one. */
  learned: boolean
}

/** How far the history of a source is stored. */
export interface SourceCursor extends WatchedSource {
  /** null: all of it is, and its logs come with the blocks. */
  cursor: number | null
  /** The block in which the history of another source taught it. */
  learnedAt?: number | undefined
}

/**
 * Takes note of what a processor watches now, and gives what it did not watch before, although its stream has blocks
 * already: their history is to be fetched first. What is not watched any more is remembered with how far it was.
 */
export async function reconcileSources(
  pool: pg.Pool,
  stream: number,
  sources: readonly WatchedSource[],
  fromBlock: number,
): Promise<PendingSource[]> {
  const kinds = sources.map(({ kind }) => kind)
  const contracts = sources.map(({ contract }) => contract)
  // Rewound to below its beginning, a stream may begin anywhere.
  await pool.query(
    `UPDATE watched_source w SET from_block = $2 FROM stream s
     WHERE w.stream = $1 AND s.id = $1 AND NOT learned AND cursor IS NULL AND s.head_height < w.from_block`,
    [stream, fromBlock],
  )
  // A stream without blocks, and one of a time before sources were noted, has what it watches from the start.
  await pool.query(
    `INSERT INTO watched_source (stream, kind, contract, from_block, cursor)
     SELECT s.id, now.kind, now.contract, $4::bigint, CASE WHEN s.head_height < 0 OR known.count = 0 THEN NULL ELSE $4::bigint - 1 END
     FROM stream s, unnest($2::text[], $3::text[]) AS now(kind, contract),
       (SELECT count(*) FROM watched_source WHERE stream = $1) AS known
     WHERE s.id = $1
     ON CONFLICT DO NOTHING`,
    [stream, kinds, contracts, fromBlock],
  )
  await pool.query(
    `UPDATE watched_source w SET cursor = coalesce(w.cursor, s.head_height), removed_at = clock_timestamp() FROM stream s
     WHERE w.stream = $1 AND s.id = $1 AND removed_at IS NULL AND NOT learned
       AND (w.kind, w.contract) NOT IN (SELECT * FROM unnest($2::text[], $3::text[]))`,
    [stream, kinds, contracts],
  )
  await pool.query(
    `UPDATE watched_source SET removed_at = NULL
     WHERE stream = $1 AND removed_at IS NOT NULL AND (kind, contract) IN (SELECT * FROM unnest($2::text[], $3::text[]))`,
    [stream, kinds, contracts],
  )
  const { rows } = await pool.query<PendingSource>(
    `SELECT kind, contract, cursor, learned FROM watched_source WHERE stream = $1 AND cursor IS NOT NULL AND removed_at IS NULL
     ORDER BY added_at, kind, contract`,
    [stream],
  )
  return rows
}

/**
 * The first block that a stream has been stored from; undefined where nothing above it is stored, and another one may be
 * chosen.
 */
export async function readFirstBlock(pool: pg.Pool, stream: number): Promise<number | undefined> {
  const { rows } = await pool.query<{ first: number | null }>(
    `SELECT min(w.from_block) AS first FROM watched_source w JOIN stream s ON s.id = w.stream
     WHERE w.stream = $1 AND NOT w.learned AND s.head_height >= w.from_block`,
    [stream],
  )
  return rows[0]?.first ?? undefined
}

/**
 * Takes note of what events taught to watch and is left alone from here on: how far it is stored. What was noted so before
 * stays where it is.
 */
export async function setSourcesAside(
  pool: pg.Pool,
  stream: number,
  sources: readonly WatchedSource[],
): Promise<void> {
  await pool.query(
    `INSERT INTO watched_source AS w (stream, kind, contract, from_block, cursor, learned, removed_at)
     SELECT s.id, now.kind, now.contract, s.head_height, s.head_height, true, clock_timestamp()
     FROM stream s, unnest($2::text[], $3::text[]) AS now(kind, contract) WHERE s.id = $1 AND s.head_height >= 0
     ON CONFLICT (stream, kind, contract) DO UPDATE SET removed_at = clock_timestamp() WHERE w.learned AND w.removed_at IS NULL`,
    [stream, sources.map(({ kind }) => kind), sources.map(({ contract }) => contract)],
  )
}

/** The reverse, of all but these contracts: history goes on from where they were, as that of an added source. */
export async function takeSourcesBack(
  pool: pg.Pool,
  stream: number,
  aside: ReadonlySet<string>,
): Promise<void> {
  await pool.query(
    `UPDATE watched_source SET removed_at = NULL
     WHERE stream = $1 AND learned AND removed_at IS NOT NULL AND NOT contract = ANY ($2)`,
    [stream, [...aside]],
  )
}

/** Stored events name more to watch than was known: its history is to be fetched from a block on. */
export async function watchAlso(
  tx: pg.PoolClient,
  stream: number,
  sources: readonly WatchedSource[],
  from: number,
): Promise<void> {
  await tx.query(
    `INSERT INTO watched_source (stream, kind, contract, from_block, cursor, learned)
     SELECT $1, kind, contract, $4::bigint, $4::bigint - 1, true FROM unnest($2::text[], $3::text[]) AS now(kind, contract)
     ON CONFLICT (stream, kind, contract) DO NOTHING`,
    [stream, sources.map(({ kind }) => kind), sources.map(({ contract }) => contract), from],
  )
}

/**
 * Keeps how far sources are, in the transaction that stores their history.
 *
 * @param from how far they were, those that are neither complete nor new
 * @throws SourceMovedError one of them was not: somebody else stored some of it, or a fork took blocks back
 */
export async function storeSourceCursors(
  tx: pg.PoolClient,
  stream: number,
  sources: readonly SourceCursor[],
  from?: number,
): Promise<void> {
  if (sources.length === 0) return
  if (from !== undefined) await assertSourcesAt(tx, stream, sources, from)
  await tx.query(
    `INSERT INTO watched_source AS w (stream, kind, contract, cursor, from_block, learned)
     SELECT $1, kind, contract, cursor, coalesce(learned_at, 0), learned_at IS NOT NULL
     FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[]) AS now(kind, contract, cursor, learned_at)
     ON CONFLICT (stream, kind, contract) DO UPDATE
     SET cursor = excluded.cursor, removed_at = NULL, learned = w.learned OR (excluded.learned AND w.removed_at IS NOT NULL)`,
    [
      stream,
      sources.map(({ kind }) => kind),
      sources.map(({ contract }) => contract),
      sources.map(({ cursor }) => cursor),
      sources.map(({ learnedAt }) => learnedAt ?? null),
    ],
  )
  if (sources.some(({ cursor }) => cursor === null))
    await tx.query('DELETE FROM watched_source WHERE stream = $1 AND learned AND cursor IS NULL', [stream])
}

async function assertSourcesAt(
  tx: pg.PoolClient,
  stream: number,
  sources: readonly WatchedSource[],
  cursor: number,
): Promise<void> {
  const { rows } = await tx.query<PendingSource>(
    `SELECT kind, contract, cursor FROM watched_source
     WHERE stream = $1 AND cursor <> $4 AND (kind, contract) IN (SELECT * FROM unnest($2::text[], $3::text[])) LIMIT 1`,
    [stream, sources.map(({ kind }) => kind), sources.map(({ contract }) => contract), cursor],
  )
  const [moved] = rows
  if (moved) throw new SourceMovedError(moved, cursor)
}

/** After a fork nothing above its root is stored, of sources that are not watched now either. */
export async function lowerSourceCursors(tx: pg.PoolClient, stream: number, to: number): Promise<void> {
  await tx.query('UPDATE watched_source SET cursor = $2 WHERE stream = $1 AND cursor > $2', [stream, to])
}

export class SourceMovedError extends VaultlogError {
  readonly code = 'SOURCE_MOVED'
  override readonly retryable = true
  constructor({ kind, contract, cursor }: PendingSource, expected: number) {
    super(
      `History of ${kind} ${contract} goes on from block ${cursor}, not from ${expected}. Beginning again from there.`,
    )
  }
}

/** Kinds of which history is being fetched that new sources of a stream still lack. */
export async function readPendingKinds(pool: pg.Pool, stream: number): Promise<string[]> {
  const { rows } = await pool.query<{ kind: string }>(
    'SELECT DISTINCT kind FROM watched_source WHERE stream = $1 AND cursor IS NOT NULL AND removed_at IS NULL',
    [stream],
  )
  return rows.map(({ kind }) => kind)
}

/** Whether history is being fetched that new sources of a stream still lack. */
export async function isBackfilling(pool: pg.Pool, stream: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    'SELECT FROM watched_source WHERE stream = $1 AND cursor IS NOT NULL AND removed_at IS NULL LIMIT 1',
    [stream],
  )
  return rowCount === 1
}
