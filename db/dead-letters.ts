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

/** Keeps dead letters, each once. One that was resolved and is met again is open again: it was not mended. */
export async function storeDeadLetters(
  db: pg.Pool | pg.PoolClient,
  letters: readonly NewDeadLetter[],
): Promise<void> {
  if (letters.length === 0) return
  await db.query(
    `INSERT INTO dead_letter (stage, stream, block_number, block_hash, tx_hash, log_index, contract, reason, payload, attempts)
     SELECT l->>'stage', (l->>'stream')::int, (l->>'block')::bigint, l->>'hash', l->>'tx', (l->>'logIndex')::bigint,
       l->>'contract', l->>'reason', l->'payload', coalesce((l->>'attempts')::int, 1)
     FROM jsonb_array_elements($1::jsonb) l
     ON CONFLICT (stage, stream, coalesce(block_hash, ''), coalesce(log_index, -1), coalesce(contract, ''), md5(reason))
     DO UPDATE SET attempts = dead_letter.attempts + excluded.attempts, last_at = clock_timestamp(), resolved_at = NULL,
       payload = excluded.payload`,
    [JSON.stringify(letters, (_, value) => (typeof value === 'string' ? cleanText(value) : value))],
  )
}
