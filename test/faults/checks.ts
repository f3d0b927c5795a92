import type pg from 'pg'
import { expect } from 'vitest'
import type { ChainProcessorOptions } from '../../processors/chain-options.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import type { SmallChain } from './small-chain.ts'

const MAINNET = 1

/** Count and checksum of a stream's first `upTo` rows as they are stored, bookkeeping columns included. */
export async function storeSum(pool: pg.Pool, upTo = Number.MAX_SAFE_INTEGER) {
  const { rows } = await pool.query<{ count: number; first: number; last: number; checksum: string }>(
    `SELECT count(*)::int AS count, coalesce(min(position), 0)::int AS first, coalesce(max(position), 0)::int AS last,
            coalesce(sum(hashtextextended(e::text, 0)), 0)::text AS checksum
     FROM stored_events($1, 0, $2) e`,
    [MAINNET, upTo],
  )
  const [row] = rows
  if (!row) throw new TypeError('an aggregate without a row')
  return row
}

/** Facts of logs that stand more than once: the same log of the same block, neither of them retracted. */
export async function doubledLogs(pool: pg.Pool): Promise<unknown[]> {
  const { rows } = await pool.query(
    `WITH gone AS (
       SELECT int8range((data->>'fromPosition')::bigint, (data->>'toPosition')::bigint, '[]') AS positions
       FROM event_log WHERE stream = $1 AND type = 'BlockRetracted'
     )
     SELECT block_number, type, log_index, '0x' || encode(contract, 'hex') AS contract, count(*)::int AS times
     FROM stored_events($1, 0, 9007199254740991) e
     WHERE type <> 'BlockRetracted' AND NOT EXISTS (SELECT FROM gone WHERE e.position <@ gone.positions)
     GROUP BY block_number, block_hash, type, log_index, contract, data HAVING count(*) > 1`,
    [MAINNET],
  )
  return rows
}

/** Waits until the store's head is the node's, by hash: heights alone do not tell branches apart. */
export async function untilAtHead(pool: pg.Pool, chain: SmallChain, seconds = 120): Promise<void> {
  const deadline = Date.now() + seconds * 1000
  let found = ''
  let wanted = ''
  while (Date.now() < deadline) {
    wanted = (await chain.node.head()).hash
    const { rows } = await pool
      .query<{ head_hash: string }>('SELECT head_hash FROM stream WHERE id = $1', [MAINNET])
      .catch(() => ({ rows: [] }))
    found = rows[0]?.head_hash ?? ''
    if (found === wanted) return
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  expect.fail(`the store's head is ${found} and the node's ${wanted} after ${seconds} s`)
}

/** The shares everybody has by the read models: by the newest visible row, and by the table of heads. */
export async function indexedBalances(pipeline: Pick<Pipeline, 'rows'>) {
  const keyed = (rows: { key: string; balance: string }[]) =>
    Object.fromEntries(rows.map(({ key, balance }) => [key, balance]))
  const history = await pipeline.rows<{ key: string; balance: string }>(
    `SELECT concat(vault, ' ', holder) AS key, toString(argMax(balance, position)) AS balance FROM balance
     WHERE (chain_id, position) NOT IN (SELECT stream, position FROM retracted) GROUP BY vault, holder HAVING balance != '0'`,
  )
  const heads = await pipeline.rows<{ key: string; balance: string }>(
    `SELECT concat(vault, ' ', holder) AS key, toString(holder.balance) AS balance FROM holder FINAL WHERE holder.balance != 0`,
  )
  return { history: keyed(history), heads: keyed(heads) }
}

/**
 * Everything that has to hold whatever happened: dense positions, no log twice, balances as the contracts say, and
 * each read model what a clean run over the chain as it is now makes.
 */
export async function expectLikeCleanRun(
  pipeline: Pipeline,
  chain: SmallChain,
  options: Partial<ChainProcessorOptions>,
): Promise<void> {
  const store = await storeSum(pipeline.postgres.pool)
  expect([store.first, store.last]).toEqual([1, store.count])
  expect(await doubledLogs(pipeline.postgres.pool)).toEqual([])
  const held = await chain.balances()
  const indexed = await indexedBalances(pipeline)
  expect(Object.keys(held).length).toBeGreaterThan(0)
  expect(indexed.history).toEqual(held)
  expect(indexed.heads).toEqual(held)

  const clean = await createPipeline()
  try {
    await clean.indexTo((await chain.node.head()).number, { rpcUrl: chain.node.rpcUrl, ...options })
    await clean.project()
    expect(await pipeline.visibleSums()).toEqual(await clean.visibleSums())
  } finally {
    await clean.drop()
  }
}
