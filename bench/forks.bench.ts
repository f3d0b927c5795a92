import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import type { BlockEvents } from '../db/events/event-store.ts'
import { retraction } from '../db/events/hot-blocks.ts'
import { listStreams } from '../jobs/checkpoints.ts'
import { compactStream } from '../jobs/compaction.ts'
import { loadProjections } from '../jobs/projection.ts'
import { catchUpAll } from '../jobs/work.ts'
import { appendBlocks } from '../test/read-api/append.ts'
import { askOften, startApi } from './api.ts'
import { type Bench, type Result, type Stage, timed } from './bench.ts'
import { questionsOf } from './questions.ts'
import { accountOf, fillStore, type GeneratedStore } from './store.ts'

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 1_000_000)
const FORKS = Number(process.env['BENCH_FORKS'] ?? 1_000)
/** Each time. */
const EVENTS_TAKEN_BACK = Number(process.env['BENCH_TAKEN_BACK'] ?? 30)
const UNIT = 10n ** 6n
const ZERO = `0x${'0'.repeat(40)}`

export const bench: Bench = {
  about:
    `A generated store of ${EVENTS.toLocaleString('en')} events, and the same one after ${FORKS.toLocaleString('en')} forks of its busiest ` +
    `vault that took back ${EVENTS_TAKEN_BACK} events each: the questions of the read API, one client, one request after the other, before the ` +
    'forks, after them, and after the worker has compacted them. The ratio is that of p50 without forks to p50 with them compacted.',
  async run(stage) {
    const { pool, url } = await stage.postgres()
    const clickhouse = await stage.clickhouse()
    const projections = await loadProjections()
    const store = await fillStore(pool, { events: EVENTS, vaults: 1_000 })
    await catchUpAll({ pool, clickhouse: clickhouse.client, projections })
    stage.say('filled')
    const api = await startApi(stage, { pool, url, clickhouse })
    const plain = await ask(stage, store, api)
    await fork(pool, store)
    await catchUpAll({ pool, clickhouse: clickhouse.client, projections })
    stage.say('forked')
    // The API looks once a second.
    await setTimeout(3_000)
    const forked = await ask(stage, store, api)
    const to = (await listStreams(pool))[0]?.head ?? 0
    const compaction = await timed(() => compactStream({ pool, clickhouse, projections }, 1, to))
    stage.say('compacted')
    await setTimeout(3_000)
    const compacted = await ask(stage, store, api)
    const rows: Result[] = plain.map(({ what, p50, p99 }, i) => {
      const [then, now] = [forked[i]?.p50 ?? 0, compacted[i]?.p50 ?? 0]
      return {
        what,
        ours: `compacted: p50 ${now.toFixed(1)} ms, p99 ${compacted[i]?.p99.toFixed(1)} ms`,
        beside: `without forks: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; not compacted: p50 ${then.toFixed(1)} ms`,
        ratio: p50 / now,
        budget: 'a fifth more at most',
        holds: now <= 1.2 * p50,
      }
    })
    return [
      ...rows,
      {
        what: `compaction of ${FORKS.toLocaleString('en')} forks`,
        ours: `${(compaction.ms / 1000).toFixed(1)} s`,
      },
    ]
  },
}

async function ask(stage: Stage, store: GeneratedStore, api: { port: number; key: string }) {
  const found: { what: string; p50: number; p99: number }[] = []
  for (const { what, path } of questionsOf(store).list) {
    const { p50, p99 } = await askOften(api, path)
    stage.say(`${what}: p50 ${p50.toFixed(1)} ms`)
    found.push({ what, p50, p99 })
  }
  return found
}

/** Blocks of transfers in the busiest vault, each of them taken back and replaced by an empty one. */
async function fork(pool: pg.Pool, { busiest, ends }: GeneratedStore): Promise<void> {
  const { rows } = await pool.query<{ head: number; height: number }>(
    'SELECT head, head_height AS height FROM stream WHERE id = 1',
  )
  const [{ head, height } = { head: 0, height: 0 }] = rows
  const blocks: BlockEvents[] = []
  for (let n = 0; n < FORKS; n++) {
    const of = (branch: string) => ({
      number: height + 1 + n,
      hash: `0x${branch}${n.toString(16).padStart(63, '0')}`,
      timestamp: ends + 12 * (n + 1),
    })
    const gone = of('d')
    const events = Array.from({ length: EVENTS_TAKEN_BACK }, (_, log) => ({
      type: 'ShareTransferred' as const,
      contract: busiest.vault,
      transactionHash: gone.hash,
      logIndex: log,
      data: { from: ZERO, to: accountOf(log), shares: UNIT },
    }))
    const first = head + 1 + n * (EVENTS_TAKEN_BACK + 1)
    const orphan = {
      height: gone.number,
      hash: gone.hash,
      from_position: first,
      to_position: first + EVENTS_TAKEN_BACK - 1,
    }
    blocks.push({ block: gone, events }, retraction(orphan), { block: of('e'), events: [] })
  }
  await appendBlocks(pool, 1, 'mainnet', blocks)
}
