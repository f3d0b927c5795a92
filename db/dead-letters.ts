import type pg from 'pg'
import { cleanText } from './events/event-json.ts'

/** A log, answer or event that could not be processed, kept for the operator. Letters that differ in payload and attempts alone are one letter. */
export interface NewDeadLetter {
  stage: string
  stream: number
  block?: number | undefined
  hash?: string | undefined
  tx?: string | undefined
  logIndex?: number | undefined
  /** Or the projection. */
  contract?: string | undefined
  reason: string
  payload: unknown
  /** How often it was met. */
  attempts?: number | undefined
}

/**
 * Keeps dead letters, each once, however often it is among them. One that was resolved and is met again is open again: it was not mended.
 * They are written in the order of what tells them apart: two that keep the same ones at a time wait for each other in turn.
 */
export async function storeDeadLetters(
  db: pg.Pool | pg.PoolClient,
  letters: readonly NewDeadLetter[],
): Promise<void> {
  if (letters.length === 0) return
  await db.query(
    `INSERT INTO dead_letter (stage, stream, block_number, block_hash, tx_hash, log_index, contract, reason, payload, attempts)
     SELECT l->>'stage', (l->>'stream')::int, max((l->>'block')::bigint), max(l->>'hash'), max(l->>'tx'),
       max((l->>'logIndex')::bigint), max(l->>'contract'), l->>'reason', (array_agg(l->'payload' ORDER BY place DESC))[1],
       sum(coalesce((l->>'attempts')::int, 1))
     FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS listed(l, place)
     GROUP BY l->>'stage', l->>'stream', coalesce(l->>'hash', ''), coalesce(l->>'logIndex', ''), coalesce(l->>'contract', ''),
       l->>'reason'
     ORDER BY 1, 2, 4, 6, 7, 8
     ON CONFLICT (stage, stream, coalesce(block_hash, ''), coalesce(log_index, -1), coalesce(contract, ''), md5(reason))
     DO UPDATE SET attempts = dead_letter.attempts + excluded.attempts, last_at = clock_timestamp(), resolved_at = NULL,
       payload = excluded.payload`,
    [JSON.stringify(letters, (_, value) => (typeof value === 'string' ? cleanText(value) : value))],
  )
}
