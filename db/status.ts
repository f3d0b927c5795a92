import type pg from 'pg'
import { NO_STATE } from './chain/errors.ts'
import { hasWriter } from './events/writer-lock.ts'
import type { StreamKind } from './streams.ts'
import { MIRROR } from './wake-ups.ts'

export interface StreamStatus {
  stream: number
  name: string
  kind: StreamKind
  head: number
  headBlock: number
  finalBlock: number
  /** A chain that is not indexed any more. */
  retired: boolean
  /** A processor holds the lock of the chain's only writer; of the registry nobody does. */
  isFollowed: boolean
  /** Seconds since anything was stored of it. */
  quiet: number
  /** Seconds since the newest stored block's time, or since the chain was named where it has none; for chains that are indexed. */
  age: number | undefined
  projections: { name: string; position: number; behind: number; applying: boolean }[]
  /** What is watched since lately and lacks history, by how far it is: blocks from `from` to `cursor` are stored. */
  backfills: { sources: number; from: number; cursor: number }[]
  /** Contracts that were discovered, and logs of which from long before that are still being fetched. */
  olderLogs: number
  /** Contracts that may be vaults and wait for their turn to be looked at. */
  waitingContracts: number
  /** Contracts that logged so much on a day that some of it is left out until the day is over. */
  leftOut: number
  /** Vaults that nobody listed, by standing, where they are so many that most are sampled once in several hours alone. */
  sampledInTurns: { standing: string; vaults: number; hours: number }[]
  deadLetters: number
  /** First block of the last stretch of blocks whose state the node did not have: nothing is sampled there. */
  withoutState: number | undefined
  /** The first block of which the node had state when it was last found to have none of an older one: samples begin there. */
  samplesSince: number | undefined
  /** Contracts that were left out where final blocks were compared with the chain, as they were not finished. */
  uncompared: number
  /** State reads in which another endpoint differs from the one that was believed. */
  differing: number
}

/** Where every stream and projection stands. */
export async function readStatus(pool: pg.Pool, now = Date.now() / 1000): Promise<StreamStatus[]> {
  const { rows } = await pool.query<{
    id: number
    name: string
    kind: StreamStatus['kind']
    head: number
    head_height: number
    final_height: number
    head_time: number
    since: number
    followed: boolean
    without_state: number | null
    samples_since: number | null
    retired: boolean
    dead: number
    differing: number
    older: number
    uncompared: number
    waiting: number
    left_out: number
    turns: StreamStatus['sampledInTurns'] | null
    backfills: StreamStatus['backfills'] | null
    checkpoints: { projection: string; position: number; applying: boolean }[] | null
  }>(
    `SELECT s.id, s.name, s.kind, s.head, s.head_height, s.final_height, s.head_time, s.retired_at IS NOT NULL AS retired,
       extract(epoch FROM s.updated_at)::float8 AS since,
       ${hasWriter('s.id')} AS followed,
       (SELECT max(d.block_number)::int FROM dead_letter d WHERE d.stream = s.id AND d.resolved_at IS NULL
          AND d.stage = 'sample' AND starts_with(d.reason, $1)) AS without_state,
       (SELECT max((d.payload->>'keptFrom')::bigint)::int FROM dead_letter d
          WHERE d.stream = s.id AND d.resolved_at IS NULL AND d.stage = 'sample' AND starts_with(d.reason, $1)) AS samples_since,
       (SELECT count(*)::int FROM dead_letter d WHERE d.stream = s.id AND d.resolved_at IS NULL) AS dead,
       (SELECT count(*)::int FROM dead_letter d WHERE d.stream = s.id AND d.resolved_at IS NULL AND d.stage = 'cross_check') AS differing,
       (SELECT count(DISTINCT contract)::int FROM completeness c, unnest(c.left_out) contract WHERE c.stream = s.id) AS uncompared,
       (SELECT count(DISTINCT contract)::int FROM older_logs o WHERE o.stream = s.id) AS older,
       (SELECT count(*)::int FROM waiting_contract w WHERE w.stream = s.id AND w.looked_at IS NULL) AS waiting,
       (SELECT count(DISTINCT contract)::int FROM log_budget b WHERE b.stream = s.id AND b.left_out_from IS NOT NULL) AS left_out,
       (SELECT json_agg(json_build_object('standing', r.standing, 'vaults', r.vaults, 'hours', r.hours) ORDER BY r.standing)
        FROM sampling_round r WHERE r.stream = s.id AND r.hours > 1) AS turns,
       (SELECT json_agg(json_build_object('sources', sources, 'from', from_block, 'cursor', cursor) ORDER BY cursor) FROM (
          SELECT count(*) AS sources, min(from_block) AS from_block, cursor FROM watched_source
          WHERE stream = s.id AND cursor IS NOT NULL AND removed_at IS NULL AND NOT learned GROUP BY cursor) AS waiting) AS backfills,
       (SELECT json_agg(json_build_object('projection', projection, 'position', position, 'applying', applying_to IS NOT NULL) ORDER BY projection)
        FROM checkpoint c WHERE c.stream = s.id) AS checkpoints
     FROM stream s ORDER BY s.id`,
    [NO_STATE],
  )
  return rows.map(row => ({
    stream: row.id,
    name: row.name,
    kind: row.kind,
    head: row.head,
    headBlock: row.head_height,
    finalBlock: row.final_height,
    retired: row.retired,
    isFollowed: row.followed,
    quiet: Math.max(0, Math.round(now - row.since)),
    age:
      row.kind !== 'registry' && !row.retired
        ? Math.max(0, Math.round(now - (row.head_time > 0 ? row.head_time : row.since)))
        : undefined,
    projections: (row.checkpoints ?? []).map(({ projection, position, applying }) => ({
      name: projection,
      position,
      behind: Math.max(0, row.head - position),
      applying,
    })),
    backfills: row.backfills ?? [],
    olderLogs: row.older,
    waitingContracts: row.waiting,
    leftOut: row.left_out,
    sampledInTurns: row.turns ?? [],
    deadLetters: row.dead,
    withoutState: row.without_state ?? undefined,
    samplesSince: row.samples_since ?? undefined,
    uncompared: row.uncompared,
    differing: row.differing,
  }))
}

/** Chains that are not indexed any more. */
export async function readRetired(pool: pg.Pool): Promise<Set<number>> {
  const { rows } = await pool.query<{ id: number }>('SELECT id FROM stream WHERE retired_at IS NOT NULL')
  return new Set(rows.map(({ id }) => id))
}

export interface ReplayStatus {
  /** What the shadow is for: `replay` or `verify`. */
  purpose: string
  projection: string
  stream: string
  /** Positions made, and to be made. */
  position: number
  goal: number
  startedAt: Date
}

/** Shadows that are being made, or were left unfinished. */
export async function readReplays(pool: pg.Pool): Promise<ReplayStatus[]> {
  const { rows } = await pool.query<ReplayStatus>(
    // The goal as the replay itself takes it: the live rows' end, or the mirror's where the code is of another version.
    `SELECT regexp_replace(r.database, '^.*_', '') AS purpose, r.projection, s.name AS stream, r.position,
       greatest(r.position, coalesce(live.position, m.position, 0)) AS goal, r.started_at AS "startedAt"
     FROM replay r JOIN stream s ON s.id = r.stream
     LEFT JOIN checkpoint live ON live.projection = r.projection AND live.stream = r.stream AND live.version = r.version
     LEFT JOIN checkpoint m ON m.projection = $1 AND m.stream = r.stream
     ORDER BY r.database, r.projection, s.id`,
    [MIRROR],
  )
  return rows
}

/** Open dead letters by stream and stage. */
export async function countDeadLetters(
  pool: pg.Pool,
): Promise<{ stream: string; stage: string; count: number }[]> {
  const { rows } = await pool.query(
    `SELECT coalesce(s.name, d.stream::text) AS stream, d.stage, count(*)::int AS count
     FROM dead_letter d LEFT JOIN stream s ON s.id = d.stream
     WHERE d.resolved_at IS NULL GROUP BY 1, 2 ORDER BY 1, 2`,
  )
  return rows
}

export interface DeadLetterReason {
  stream: string
  stage: string
  reason: string
  count: number
  newest: Date
}

/** Open dead letters by reason, those with the newest letter first. */
export async function summarizeDeadLetters(pool: pg.Pool, limit: number): Promise<DeadLetterReason[]> {
  const { rows } = await pool.query<DeadLetterReason>(
    `SELECT coalesce(s.name, d.stream::text) AS stream, d.stage, d.reason, count(*)::int AS count, max(d.last_at) AS newest
     FROM dead_letter d LEFT JOIN stream s ON s.id = d.stream
     WHERE d.resolved_at IS NULL GROUP BY 1, 2, 3 ORDER BY newest DESC, stream, stage, reason LIMIT $1`,
    [limit],
  )
  return rows
}

export interface VerificationStatus {
  table: string
  stream: string
  isEqual: boolean
  checkedAt: Date
}

/** What `vaultlog verify` found last, by table and stream. */
export async function readVerifications(pool: pg.Pool): Promise<VerificationStatus[]> {
  const { rows } = await pool.query<VerificationStatus>(
    `SELECT table_name AS "table", stream, is_equal AS "isEqual", checked_at AS "checkedAt"
     FROM verification ORDER BY stream, table_name`,
  )
  return rows
}

/** What a dead letter may be of; the table's own check has the same. */
export const DEAD_LETTER_STAGES = [
  'decode',
  'inspect',
  'sample',
  'cross_check',
  'mirror',
  'project',
  'registry',
  'verify',
  'ledger',
] as const

export interface DeadLetterRow {
  id: number
  stage: string
  stream: number
  stream_name: string
  block_number: number | null
  log_index: number | null
  contract: string | null
  reason: string
  attempts: number
  last_at: Date
  payload: unknown
}

export async function listDeadLetters(
  pool: pg.Pool,
  filter: { stage?: string; stream?: number; limit: number; all?: boolean },
): Promise<DeadLetterRow[]> {
  const { rows } = await pool.query<DeadLetterRow>(
    `SELECT d.id, stage, stream, coalesce(s.name, stream::text) AS stream_name, block_number, log_index, contract, reason,
       attempts, last_at, payload
     FROM dead_letter d LEFT JOIN stream s ON s.id = d.stream
     WHERE ($1::text IS NULL OR stage = $1) AND ($2::int IS NULL OR stream = $2) AND ($4 OR resolved_at IS NULL)
     ORDER BY last_at DESC, id DESC LIMIT $3`,
    [filter.stage ?? null, filter.stream ?? null, filter.limit, filter.all ?? false],
  )
  return rows
}

/** Marks letters as dealt with; they stay in the table. Gives those that were open. */
export async function resolveDeadLetters(pool: pg.Pool, ids: readonly number[]): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>(
    'UPDATE dead_letter SET resolved_at = clock_timestamp() WHERE id = ANY ($1) AND resolved_at IS NULL RETURNING id',
    [ids],
  )
  return rows.map(({ id }) => id)
}
