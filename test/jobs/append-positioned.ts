import type pg from 'pg'
import { appendEvents, lockStreamHead, registerStream } from '../../db/events/event-store.ts'
import { inTransaction } from '../../db/postgres.ts'
import type { Positioned } from './streams.ts'

/** Appends events to a chain's stream, and moves its head with them. */
export async function appendPositioned(
  pool: pg.Pool,
  stream: number,
  name: string,
  events: readonly Positioned[],
): Promise<void> {
  await registerStream(pool, stream, name, 'chain')
  await inTransaction(pool, async tx => {
    const head = await lockStreamHead(tx, stream)
    const blocks = events.map(({ block, event }) => ({ block, events: [event] }))
    const next = await appendEvents(tx, stream, head, blocks)
    const last = events.at(-1)?.block
    await tx.query(
      'UPDATE stream SET head = $2, head_height = greatest(head_height, $3), head_time = greatest(head_time, $4) WHERE id = $1',
      [stream, next, last?.number ?? 0, last?.timestamp ?? 0],
    )
  })
}
