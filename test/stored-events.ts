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
