import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import { listStreams } from '../jobs/checkpoints.ts'
import { compactStream } from '../jobs/compaction.ts'
import { loadProjections } from '../jobs/projection.ts'
import { replay } from '../jobs/replay.ts'
import { catchUpAll } from '../jobs/work.ts'
import { askOften, latencyOf, startApi } from './api.ts'
import { type Bench, percentiles, perSecond, type Result, type Stage, timed } from './bench.ts'
import { startGraphql } from './graphql.ts'
import { questionsOf } from './questions.ts'
import { accountOf, fillStore, type GeneratedStore } from './store.ts'

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 10_000_000)
const VAULTS = 25_000
const FORKS = 1_000

export const bench: Bench = {
  about:
    `A generated store of ${EVENTS.toLocaleString('en')} events, ${VAULTS.toLocaleString('en')} vaults, one year and ` +
    `${FORKS.toLocaleString('en')} forks: replay of every ` +
    'projection, disk, and the questions of the read API, one client, one request after the other. Beside each answer: the same ' +
    'question asked of the event store in SQL (median of three), and of @subsquid/graphql-server over it, which gives events and no ' +
    'sums: pages of 10,000, added up by the client (once). The vault asked about is the one with the most events. ' +
    'Each request about a wallet is about another one.',
  async run(stage) {
    const { pool, url } = await stage.postgres()
    const clickhouse = await stage.clickhouse()
    const results: Result[] = []
    const every = Math.max(1, Math.floor(EVENTS / 20))
    let next = every
    const filled = await timed(() =>
      fillStore(pool, {
        events: EVENTS,
        vaults: VAULTS,
        forks: FORKS,
        onProgress(stored) {
          if (stored < next) return
          next += every
          stage.say(`filled ${stored.toLocaleString('en')} of ${EVENTS.toLocaleString('en')} events`)
        },
      }),
    )
    const store = filled.result
    results.push({ what: 'append into the store alone', ours: perSecond(store.events, filled.ms) })
    await pool.query('VACUUM ANALYZE event_log')

    const projections = await loadProjections()
    const growth = watchGrowth(store.events)
    const first = await timed(() =>
      catchUpAll({ pool, clickhouse: clickhouse.client, projections, onBatch: growth.onBatch }),
    )
    stage.say(`mirrored and projected in ${(first.ms / 1000).toFixed(1)} s`)
    for (const line of growth.lines()) stage.say(line)
    results.push({
      what: 'mirror and all projections, live batches',
      ours: perSecond(store.events, first.ms),
    })
    // As the worker does every ten minutes.
    const compaction = await timed(() => compactStream({ pool, clickhouse, projections }, 1, store.events))
    results.push({ what: 'compaction of its forks', ours: `${(compaction.ms / 1000).toFixed(1)} s` })
    results.push(...(await replayed(stage, pool, clickhouse, store)))
    results.push(...(await disk(pool, clickhouse, store)))
    results.push(...(await questions(stage, pool, url, clickhouse, store)))
    results.push(await twenty(stage, clickhouse, store))
    return results
  },
}

/** How long each projection took for each tenth of the store, the longest first: what grows is seen by it. */
function watchGrowth(events: number) {
  const tenths = new Map<string, number[]>()
  return {
    onBatch(projection: string, _stream: number, { to }: { to: number }, seconds: number) {
      const of = tenths.get(projection) ?? Array.from({ length: 10 }, () => 0)
      const tenth = Math.min(9, Math.floor(((to - 1) / events) * 10))
      of[tenth] = (of[tenth] ?? 0) + seconds
      tenths.set(projection, of)
    },
    lines: () =>
      [...tenths]
        .map(([name, of]) => ({ name, of, sum: of.reduce((a, b) => a + b) }))
        .sort((a, b) => b.sum - a.sum)
        .slice(0, 12)
        .map(
          ({ name, of, sum }) =>
            `${name}: ${sum.toFixed(1)} s, by tenths ${of.map(each => each.toFixed(1)).join(' ')}`,
        ),
  }
}

async function replayed(
  stage: Stage,
  pool: pg.Pool,
  clickhouse: ClickHouse,
  store: GeneratedStore,
): Promise<Result[]> {
  const projections = await loadProjections()
  const streams = await listStreams(pool)
  const memory = watchMemory(clickhouse)
  const { ms } = await timed(() =>
    replay({
      pool,
      clickhouse,
      projections,
      streams,
      progress: {
        start: title => ({ update() {}, finish: () => stage.say(`replayed ${title}`) }),
        close() {},
      },
    }),
  )
  const rate = (store.events / ms) * 1000
  const { server, own } = await memory.stop()
  return [
    {
      what: `replay of all ${projections.length} projections`,
      ours: perSecond(store.events, ms),
      budget: '100,000/s',
      holds: rate >= 100_000,
    },
    {
      what: 'memory of ClickHouse and of the command while replaying',
      ours: `${server.toFixed(0)} MiB and ${own.toFixed(0)} MiB`,
      budget: '2 GiB together',
      holds: server + own <= 2048,
    },
  ]
}

/** The most that ClickHouse and this process held meanwhile, MiB. */
function watchMemory(clickhouse: ClickHouse): { stop(): Promise<{ server: number; own: number }> } {
  let isOver = false
  const most = { server: 0, own: 0 }
  const watching = (async () => {
    while (!isOver) {
      const [row] = await clickhouse.query<{ value: string }>(
        'bench',
        `SELECT toString(value) AS value FROM system.metrics WHERE metric = 'MemoryTracking'`,
      )
      most.server = Math.max(most.server, Number(row?.value ?? 0) / 2 ** 20)
      most.own = Math.max(most.own, process.memoryUsage().rss / 2 ** 20)
      await setTimeout(100)
    }
  })()
  return {
    async stop() {
      isOver = true
      await watching
      return most
    },
  }
}

async function disk(pool: pg.Pool, clickhouse: ClickHouse, store: GeneratedStore): Promise<Result[]> {
  const { rows } = await pool.query<{ bytes: string }>(
    `SELECT sum(pg_total_relation_size(inhrelid))::text AS bytes FROM pg_inherits WHERE inhparent = 'event_log'::regclass`,
  )
  const [house] = await clickhouse.query<{ bytes: string }>(
    'bench',
    'SELECT toString(sum(bytes_on_disk)) AS bytes FROM system.parts WHERE database = currentDatabase() AND active',
  )
  const perMillion = (bytes: string | undefined) =>
    `${Math.round(Number(bytes) / 2 ** 20 / (store.events / 1e6))} MiB per million events`
  return [
    { what: 'disk, event store', ours: perMillion(rows[0]?.bytes) },
    { what: 'disk, ClickHouse with staging', ours: perMillion(house?.bytes) },
  ]
}

async function questions(
  stage: Stage,
  pool: pg.Pool,
  databaseUrl: string,
  clickhouse: ClickHouse,
  store: GeneratedStore,
): Promise<Result[]> {
  const api = await startApi(stage, { pool, url: databaseUrl, clickhouse })
  const { list, parameters } = questionsOf(store)
  const floor = await floorOf(clickhouse)
  const rawEvents = await startGraphql(stage, databaseUrl)
  const results: Result[] = []
  const byGraphql: Result[] = []
  for (const { what, path, sql, fold } of list) {
    const { p50, p99 } = await askOften(api, path)
    const inSql: number[] = []
    let rows = 0
    for (let i = 0; i < 3; i++) {
      const { ms, result } = await timed(() => pool.query(sql, parameters))
      inSql.push(ms)
      rows = result.rows.length
    }
    const beside = percentiles(inSql).p50
    stage.say(`${what}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)}, in SQL ${beside.toFixed(0)}`)
    // Of a large store it has no answer to some: no statement of it may take more than ten seconds.
    const graphql = await timed(() => fold(rawEvents)).catch((error: Error) => error)
    if (!(graphql instanceof Error) && graphql.result !== rows)
      throw new RangeError(`${what}: ${graphql.result} rows by GraphQL, ${rows} by SQL`)
    stage.say(`${what}, by GraphQL: ${graphql instanceof Error ? graphql.message : graphql.ms.toFixed(0)}`)
    results.push({
      what,
      ours: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
      beside: `event store in SQL ${beside.toFixed(0)} ms`,
      ratio: beside / p50,
      budget: 'p50 10 ms over the floor, p99 50 ms, 20 × faster',
      holds: p50 <= 10 + floor.p50 && p99 <= 50 && beside / p50 >= 20,
    })
    byGraphql.push({
      what: `${what}, by GraphQL`,
      ours: `p50 ${p50.toFixed(1)} ms`,
      ...(graphql instanceof Error
        ? { beside: '@subsquid/graphql-server has no answer within its limits' }
        : { beside: `@subsquid/graphql-server ${graphql.ms.toFixed(0)} ms`, ratio: graphql.ms / p50 }),
    })
  }
  const lowest = {
    what: 'the floor: SELECT by primary key, asked of the engine itself',
    ours: `p50 ${floor.p50.toFixed(1)} ms, p99 ${floor.p99.toFixed(1)} ms`,
  }
  return [lowest, ...results, ...byGraphql]
}

/** What no answer can be below: the shortest statement there is about a wallet, without the API. */
const floorOf = (clickhouse: ClickHouse) =>
  latencyOf(n =>
    clickhouse.query('bench', 'SELECT * FROM account_vault WHERE account = {account:String}', {
      account: accountOf(n),
    }),
  )

/** The questions of docs/questions.md, of the busiest vault and account and the year of the store. */
async function twenty(stage: Stage, clickhouse: ClickHouse, store: GeneratedStore): Promise<Result> {
  const text = await readFile(new URL('../docs/questions.md', import.meta.url), 'utf8')
  const year = new Date(store.begins * 1000).getUTCFullYear()
  const times: { question: string; ms: number }[] = []
  for (const [, question = '', sql = ''] of text.matchAll(/^### (.+)\n[^`]*```sql\n([\s\S]*?)```/gm)) {
    const asked = sql
      .replaceAll(/'0x0{39}1'/g, `'${store.busiest.account}'`)
      .replaceAll(/'0x[\da-f]{40}'/g, `'${store.busiest.vault}'`)
      .replaceAll("'2024-", `'${year}-`)
    const sample: number[] = []
    for (let i = 0; i < 3; i++) sample.push((await timed(() => clickhouse.query('bench', asked))).ms)
    times.push({ question, ms: percentiles(sample).p50 })
  }
  const [slowest] = times.sort((a, b) => b.ms - a.ms)
  if (!slowest) throw new TypeError('docs/questions.md has no questions')
  for (const { question, ms } of times.slice(0, 5)) stage.say(`${question}: ${ms.toFixed(0)} ms`)
  return {
    what: `slowest of ${times.length} questions in SQL (${slowest.question})`,
    ours: `${slowest.ms.toFixed(0)} ms, median of all ${(times[times.length >> 1]?.ms ?? 0).toFixed(0)} ms`,
    budget: '1 s each',
    holds: slowest.ms < 1000,
  }
}
