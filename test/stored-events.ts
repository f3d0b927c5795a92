import type pg from 'pg'
import { decodeEventData } from '../db/events/event-json.ts'
import type { DomainEvent, EventType } from '../db/events/vocabulary.ts'

/** Events of a type and contract as the store has them, in their order; without those that were retracted. */
export const storedEvents =
  (pool: pg.Pool) =>
  async <T extends EventType>(type: T, contract: string) => {
    const { rows } = await pool.query<{
      contract: string
      block_number: number
      data: Record<string, unknown>
    }>(
      `SELECT contract, block_number::int AS block_number, data FROM event e WHERE type = $1 AND contract = $2
         AND NOT EXISTS (SELECT FROM event r WHERE r.type = 'BlockRetracted' AND r.stream = e.stream
           AND e.position BETWEEN (r.data ->> 'fromPosition')::bigint AND (r.data ->> 'toPosition')::bigint)
       ORDER BY position`,
      [type, contract],
    )
    return rows.map(row => ({
      type,
      contract: row.contract,
      block: row.block_number,
      data: decodeEventData(type, row.data) as DomainEvent<T>['data'],
    }))
  }

/** Every canonical event of mainnet below a block, in words; samples too, by which block and of what state. */
export async function eventsInWords(pool: pg.Pool, below = Number.MAX_SAFE_INTEGER): Promise<string[]> {
  const { rows } = await pool.query<{ event: string }>(
    `SELECT concat_ws(' ', block_number, encode(block_hash, 'hex'), log_index, type, encode(contract, 'hex'), data) AS event
     FROM stored_events(1, 0, 9007199254740991) e WHERE type <> 'BlockRetracted' AND block_number < $1 AND NOT EXISTS (
       SELECT FROM event_log r WHERE r.stream = 1 AND r.type = 'BlockRetracted'
         AND e.position BETWEEN (r.data->>'fromPosition')::bigint AND (r.data->>'toPosition')::bigint)
     ORDER BY event`,
    [below],
  )
  return rows.map(({ event }) => event)
}
