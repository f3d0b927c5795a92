import type { ClickHouseClient } from '@clickhouse/client'
import { LRUCache } from 'lru-cache'
import type { Face } from '../../db/faces.ts'
import type { Reading } from '../catalogue/reading.ts'
import { tablesIn, withoutUnfilled } from './filling.ts'
import { ask, type NamedQuery, type z } from './query.ts'

/** Some twenty questions of each chain; rows of a thousand markets take about a megabyte. */
const MOST = 1_000

interface Kept {
  /** The chain's position as of which the rows are. */
  p: number
  rows: Promise<unknown[]>
}

const answers = new WeakMap<ClickHouseClient, LRUCache<string, Kept>>()

/** What was read of tables whose rows may be others now, as after a replay, is read again. */
export const forgetKept = (clickhouse: ClickHouseClient) => answers.delete(clickhouse)

/**
 * Asks about a chain as of the catalogue's moment ({chain}, {p}), unless the same was asked before and no table of the question has
 * changed on the chain since: most blocks change few of them. The rows are shared.
 *
 * @throws FillingError, DependencyDownError
 */
export async function askKept<R extends z.ZodType>(
  { deps: { clickhouse }, catalogue }: Reading,
  query: NamedQuery<R>,
  chain: number,
  face: Face,
  parameters: Record<string, unknown> = {},
): Promise<readonly z.output<R>[]> {
  const p = catalogue.chain(chain, face)?.position ?? 0
  const asked = withoutUnfilled(clickhouse, query.sql, { ...parameters, chain, p })
  const kept = answers.get(clickhouse) ?? new LRUCache<string, Kept>({ max: MOST })
  answers.set(clickhouse, kept)
  const key = `${query.name} ${chain} ${JSON.stringify(parameters)}`
  const known = kept.get(key)
  if (known && known.p <= p && changedTo(catalogue.moment, chain, query) <= known.p)
    return known.rows as Promise<z.output<R>[]>
  const rows = ask(clickhouse, query, asked)
  // One that asks at an earlier moment leaves the later answer to the others.
  if (!known || known.p <= p) {
    const answer = { p, rows }
    kept.set(key, answer)
    rows.catch(() => {
      if (kept.peek(key) === answer) kept.delete(key)
    })
  }
  return rows
}

/** Up to which position any table of a question may have changed; infinite where that is not known of one. */
function changedTo(
  { changedTo: byChain }: Reading['catalogue']['moment'],
  chain: number,
  { sql }: { sql: string },
): number {
  const tables = byChain.get(chain)
  // What a retraction hides is noted of each table that had any of it.
  const positions = tablesIn(sql)
    .filter(name => name !== 'retracted')
    .map(name => tables?.get(name) ?? Number.POSITIVE_INFINITY)
  return Math.max(...positions)
}
