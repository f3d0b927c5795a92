import type pg from 'pg'
import { inTransaction } from '../postgres.ts'
import { appendEvents, type BlockEvents, lockStreamHead } from './event-store.ts'
import { retractLogBudgets } from './log-budgets.ts'
import { lowerOlderSources } from './older-logs.ts'
import { retractTeaching } from './teaching.ts'
import { retractWaiting } from './waiting-contracts.ts'
import { lockForTransaction } from './writer-lock.ts'

/**
 * Takes back everything a chain's stream holds above a block, by retractions, and sets the cursor there, so that the
 * next run of the processor stores those blocks anew. For forks deeper than finality and for sources that lied.
 * Gives how many blocks were retracted. Refused while a processor runs.
 */
export async function rewindChain(
  pool: pg.Pool,
  stream: number,
  name: string,
  toBlock: number,
): Promise<number> {
  return inTransaction(pool, async tx => {
    await lockForTransaction(tx, stream, name)
    const head = await lockStreamHead(tx, stream)
    const { rows } = await tx.query<{
      number: number
      hash: string
      from_position: number
      to_position: number
    }>(
      `WITH gone AS (
         SELECT int8range((data->>'fromPosition')::bigint, (data->>'toPosition')::bigint, '[]') AS positions
         FROM event_log WHERE stream = $1 AND type = 'BlockRetracted'
       ), standing AS (
         SELECT position, block_number, block_hash, position - row_number() OVER (PARTITION BY block_hash ORDER BY position) AS run
         FROM event_log e
         WHERE stream = $1 AND block_number > $2 AND type <> 'BlockRetracted'
           AND NOT EXISTS (SELECT FROM gone WHERE e.position <@ gone.positions)
       )
       SELECT block_number AS number, '0x' || encode(block_hash, 'hex') AS hash,
              min(position) AS from_position, max(position) AS to_position
       FROM standing GROUP BY block_number, block_hash, run ORDER BY max(position) DESC`,
      [stream, toBlock],
    )
    const retractions = rows.map(
      (row): BlockEvents => ({
        block: { number: row.number, hash: row.hash, timestamp: 0 },
        events: [
          {
            type: 'BlockRetracted',
            contract: '',
            data: {
              blockNumber: row.number,
              blockHash: row.hash,
              fromPosition: row.from_position,
              toPosition: row.to_position,
            },
          },
        ],
      }),
    )
    const next = await appendEvents(tx, stream, head, retractions)
    await retractTeaching(tx, stream, rows)
    await tx.query('DELETE FROM hot_block WHERE stream = $1 AND height > $2', [stream, toBlock])
    await tx.query('DELETE FROM watched_source WHERE stream = $1 AND learned AND from_block > $2', [
      stream,
      toBlock,
    ])
    await tx.query('UPDATE watched_source SET cursor = $2 WHERE stream = $1 AND cursor > $2', [
      stream,
      toBlock,
    ])
    await retractWaiting(tx, stream, toBlock)
    await retractLogBudgets(tx, stream, toBlock)
    await lowerOlderSources(tx, stream, toBlock)
    await tx.query('DELETE FROM completeness WHERE stream = $1 AND to_block > $2', [stream, toBlock])
    // The newest block that is left and known: a little before the head, which is better than no time at all.
    const { rows: last } = await tx.query<{ time: number }>(
      'SELECT coalesce(max(block_time), 0) AS time FROM event_log WHERE stream = $1 AND block_number <= $2',
      [stream, toBlock],
    )
    // The hash of the common block is not known here; '0x' makes evm-processor take the chain's own.
    await tx.query(
      `UPDATE stream SET head = $2, final_height = least(final_height, $3), head_height = least(head_height, $3),
              final_hash = CASE WHEN final_height > $3 THEN '0x' ELSE final_hash END,
              head_hash = '0x', head_time = CASE WHEN head_height > $3 THEN $4 ELSE head_time END, updated_at = clock_timestamp() WHERE id = $1`,
      [stream, next, toBlock, last[0]?.time ?? 0],
    )
    return rows.length
  })
}
