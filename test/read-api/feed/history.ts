import type pg from 'pg'
import { type BlockEvents, registerStream } from '../../../db/events/event-store.ts'
import { storeBatches } from '../../../db/events/store-batch.ts'
import { readStreamState } from '../../../db/events/stream-state.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { inTransaction } from '../../../db/postgres.ts'
import type { Random } from '../../chain/random.ts'

const hex = (value: number, bytes: number) => `0x${value.toString(16).padStart(2 * bytes, '0')}`
export const vaultOf = (n: number) => hex(0xa0 + n, 20)
export const walletOf = (n: number) => hex(0xb0 + n, 20)

/** A chain that grows and forks at random, stored as processors store it. */
export class RandomChain {
  readonly blocks: { number: number; hash: string }[] = []
  reorgs = 0
  private made = 0
  private readonly pool: pg.Pool
  private readonly random: Random
  readonly id: number
  readonly name: string

  constructor(pool: pg.Pool, { id, name }: { id: number; name: string }, random: Random) {
    this.pool = pool
    this.id = id
    this.name = name
    this.random = random
  }

  register() {
    return registerStream(this.pool, this.id, this.name, 'evm')
  }

  /** One more block, or a fork of up to four blocks; what is six blocks old is final. */
  async grow({ mayFork = true } = {}): Promise<void> {
    const depth = mayFork && this.random.chance(0.4) ? 1 + this.random.below(4) : 0
    await inTransaction(this.pool, async tx => {
      const state = await readStreamState(tx, this.id, 'FOR UPDATE')
      const fork = Math.max(0, state.final.height, (this.blocks.at(-1)?.number ?? 0) - depth)
      const orphans = state.hot.filter(({ height }) => height > fork)
      if (orphans.length > 0) this.reorgs++
      while ((this.blocks.at(-1)?.number ?? 0) > fork) this.blocks.pop()
      const count = 1 + this.random.below(depth + 1)
      const fresh: BlockEvents[] = []
      for (let i = 0; i < count; i++) fresh.push(this.makeBlock())
      const tip = this.blocks.at(-1)?.number ?? 0
      const final = this.blocks.findLast(({ number }) => number <= tip - 6)
      const finalCursor =
        final && final.number > state.final.height ? { height: final.number, hash: final.hash } : state.final
      await storeBatches(tx, this.id, state, [
        {
          orphans,
          blocks: fresh.filter(({ events }) => events.length > 0),
          final: finalCursor,
          hotBlocks: fresh
            .map(({ block }) => ({ height: block.number, hash: block.hash }))
            .filter(({ height }) => height > finalCursor.height),
          headTime: 1_700_000_000 + tip,
          sources: [],
          olderSources: [],
          waiting: [],
          logBudgets: { changed: [], done: [] },
        },
      ])
    })
  }

  private makeBlock(): BlockEvents {
    const number = (this.blocks.at(-1)?.number ?? 0) + 1
    const hash = hex(++this.made, 32)
    this.blocks.push({ number, hash })
    const events = Array.from({ length: this.random.below(4) }, (_, logIndex): DomainEvent => {
      const pick = () => this.random.below(3)
      return {
        type: 'ShareTransferred',
        protocol: 'erc-4626',
        contract: vaultOf(pick()),
        logIndex,
        transactionHash: hex(this.made * 100 + logIndex, 32),
        data: { from: walletOf(pick()), to: walletOf(pick()), shares: 2n ** 200n + BigInt(this.made) },
      }
    })
    return { block: { number, hash, timestamp: 1_700_000_000 + number }, events }
  }
}

/** What stands, as SQL says it: ids by `position`. `to`: no block above it. */
export async function standing(
  pool: pg.Pool,
  chain: number,
  to = Number.MAX_SAFE_INTEGER,
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT stream || '.' || position AS id FROM stored_events($1, 0, 9007199254740991) e
     WHERE type <> 'BlockRetracted' AND block_number <= $2 AND NOT EXISTS (
       SELECT FROM event_log r WHERE r.stream = $1 AND r.type = 'BlockRetracted'
         AND e.position BETWEEN (r.data->>'fromPosition')::bigint AND (r.data->>'toPosition')::bigint)
     ORDER BY position`,
    [chain, to],
  )
  return rows.map(({ id }) => id)
}
