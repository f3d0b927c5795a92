import type pg from 'pg'
import {
  appendEvents,
  appendFacts,
  type BlockEvents,
  lockStreamHead,
  registerStream,
} from '../../db/events/event-store.ts'
import { inTransaction } from '../../db/postgres.ts'

/** Blocks of a chain as its processor would append them, all of them final. */
export async function appendBlocks(
  pool: pg.Pool,
  chain: number,
  name: string,
  blocks: readonly BlockEvents[],
  kind: 'evm' | 'svm' = 'evm',
): Promise<void> {
  await registerStream(pool, chain, name, kind)
  await inTransaction(pool, async tx => {
    const head = await appendEvents(tx, chain, await lockStreamHead(tx, chain), blocks)
    const last = blocks.at(-1)?.block
    await tx.query(
      `UPDATE stream SET head = $2, head_height = greatest(head_height, $3), final_height = greatest(final_height, $3),
         head_time = greatest(head_time, $4) WHERE id = $1`,
      [chain, head, last?.number ?? 0, last?.timestamp ?? 0],
    )
  })
}

/** Curated facts, as of `at`, unix seconds. */
export async function recordFacts(
  pool: pg.Pool,
  facts: readonly { subject: string; kind: string; value: unknown }[],
  at: number,
): Promise<void> {
  await registerStream(pool, 0, 'registry', 'registry')
  await inTransaction(pool, tx =>
    appendFacts(
      tx,
      0,
      facts.map(({ subject, kind, value }) => ({
        type: 'FactRecorded',
        contract: '',
        data: { subject, kind, value: JSON.stringify(value) },
      })),
      at,
    ),
  )
}
