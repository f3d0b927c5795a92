import pg from 'pg'
import supertest from 'supertest'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest'
import type { ClickHouse } from '../../db/clickhouse/client.ts'
import { identifier } from '../../db/clickhouse/migrate.ts'
import { registerStream } from '../../db/events/event-store.ts'
import { openPostgres } from '../../db/postgres.ts'
import {
  checkReadModels,
  guardReadModels,
  type ReadModelGuard,
  ReadModelsLostError,
} from '../../db/read-models.ts'
import { readStatus } from '../../db/status.ts'
import { listStreams } from '../../jobs/checkpoints.ts'
import { tablesOf } from '../../jobs/projection.ts'
import { rebuild } from '../../jobs/rebuild.ts'
import { replay } from '../../jobs/replay.ts'
import { catchUpAll } from '../../jobs/work.ts'
import { startWorker } from '../../jobs/worker.ts'
import { createClickHouse, createPostgres } from '../databases.ts'
import { vaultlog } from '../faults/command.ts'
import { createPipeline, type Pipeline, quiet } from '../pipeline.ts'
import { appendBlocks } from '../read-api/append.ts'
import { type ApiHarness, startApi } from '../read-api/harness.ts'
import { RandomChain } from './streams.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const MAINNET = 1

let pipeline: Pipeline
let chain: RandomChain
let guard: ReadModelGuard | undefined
let api: ApiHarness | undefined

/** As every test begins. */
let filled: Pipeline
const BLOCKS = 40

async function grow(blocks: number): Promise<void> {
  await appendBlocks(pipeline.postgres.pool, MAINNET, 'mainnet', chain.lengthen(blocks, { forks: true }))
}

beforeAll(async () => {
  filled = await createPipeline()
  pipeline = filled
  chain = new RandomChain(21)
  await registerStream(filled.postgres.pool, MAINNET, 'mainnet', 'evm')
  await grow(BLOCKS)
  await filled.project()
  // Nobody may be connected to what is copied.
  await filled.postgres.pool.end()
})
afterAll(() => filled?.drop())
beforeEach(async () => {
  pipeline = await createPipeline({ like: filled })
  chain = new RandomChain(21).grow(BLOCKS, { forks: true })
})
afterEach(async () => {
  await guard?.stop()
  await api?.stop()
  guard = undefined
  api = undefined
  await inDefault(`CREATE DATABASE IF NOT EXISTS ${identifier(pipeline.clickhouse.database)}`)
  await pipeline?.drop()
})

const stores = () => ({ pool: pipeline.postgres.pool, clickhouse: pipeline.clickhouse.client })
const run = (sql: string) => pipeline.clickhouse.command('test', sql)
const rebuildAll = (more: { signal?: AbortSignal; resume?: boolean } = {}) =>
  rebuild({
    pool: pipeline.postgres.pool,
    clickhouse: pipeline.clickhouse,
    projections: pipeline.projections,
    progress: quiet,
    ...more,
  })

async function inDefault(sql: string): Promise<void> {
  const admin = pipeline.clickhouse.in('default')
  await admin.command('test', sql)
  await admin.close()
}

/** As when the server was replaced; whoever opens it migrates a new one. */
const lose = () => inDefault(`DROP DATABASE ${identifier(pipeline.clickhouse.database)} SYNC`)

test('whole read models are taken for whole', async () => {
  expect(await checkReadModels(stores())).toBeUndefined()
  await grow(10)
  expect(await checkReadModels(stores())).toBeUndefined()
  await pipeline.project()
  expect(await checkReadModels(stores())).toBeUndefined()
})

test('a table that a replay leaves without rows is not taken for lost, whoever looked at it amid the swap', async () => {
  const { pool } = pipeline.postgres
  const counts = await pipeline.rows<{ name: string; rows: string }>(
    'SELECT name, toString(total_rows) AS rows FROM system.tables WHERE database = currentDatabase() AND total_rows IS NOT NULL',
  )
  const isEmpty = (name: string) => counts.some(table => table.name === name && table.rows === '0')
  const projection = pipeline.projections.find(one => one.streams === 'evm' && tablesOf(one).every(isEmpty))
  if (!projection) throw new Error('every table has rows')
  // Of a version before, of which the new one keeps none.
  await run(`INSERT INTO ${projection.name} (chain_id, position) VALUES (${MAINNET}, 1)`)
  let looks = 0
  const clickhouse: ClickHouse = {
    ...pipeline.clickhouse,
    async command(name, sql, params) {
      if (sql.startsWith('EXCHANGE TABLES') && looks++ === 0) await checkReadModels(stores())
      return pipeline.clickhouse.command(name, sql, params)
    },
  }
  const streams = await listStreams(pool)
  await replay({ pool, clickhouse, projections: [projection], streams, progress: quiet })
  expect(looks).toBeGreaterThan(0)
  const [left] = await pipeline.rows<{ n: string }>(`SELECT count() AS n FROM ${projection.name}`)
  expect(Number(left?.n)).toBe(0)
  expect(await checkReadModels(stores())).toBeUndefined()
})

const LOSSES: [string, RegExp, () => Promise<unknown>][] = [
  ['a database that is gone', /new or empty/, lose],
  [
    'a new database, migrated by who opened it',
    /new or empty/,
    async () => {
      await lose()
      expect((await vaultlog(pipeline.env(), 'migrate')).code).toBe(0)
    },
  ],
  ['a table that is gone', /missing in ClickHouse: flow\b/, () => run('DROP TABLE flow SYNC')],
  ['a view that is gone', /missing in ClickHouse: vaults\b/, () => run('DROP VIEW vaults SYNC')],
  [
    'a table without its rows',
    /lost their rows: flow\b/,
    async () => {
      await checkReadModels(stores())
      await run('TRUNCATE TABLE flow')
    },
  ],
  [
    'an older copy of the events',
    /older than the event store: of stream 1 they have \d+ of \d+/,
    async () => {
      await run('ALTER TABLE event DELETE WHERE stream = 1 AND position > 60 SETTINGS mutations_sync = 2')
    },
  ],
  [
    'a copy of events that the store does not have any more',
    /event store is older than the read models/,
    () =>
      run(
        'INSERT INTO event SELECT * REPLACE (position + 100000 AS position) FROM event WHERE stream = 1 LIMIT 1',
      ),
  ],
  [
    "another store's read models",
    /of another event store/,
    async () => {
      await run('TRUNCATE TABLE identity')
      await pipeline.clickhouse.client.insert({
        table: 'identity',
        values: [{ store: '00000000-0000-4000-8000-000000000000' }],
        format: 'JSONEachRow',
      })
    },
  ],
]

test.each(LOSSES)('%s is lost: nothing is answered', async (_, reason, damage) => {
  guard = await guardReadModels(stores(), { everyMs: 100, patienceMs: 100 })
  api = await startApi({ on: { postgres: pipeline.postgres, clickhouse: pipeline.clickhouse }, guard })
  await api.catalogue.refresh()
  const ask = (path: string) =>
    supertest(api?.app ?? '')
      .get(path)
      .set('x-api-key', api?.apiKey ?? '')
  expect((await ask('/v2/vaults')).status).toBe(200)
  expect((await ask('/v2/vaults')).status, 'from an answer at hand').toBe(200)

  await damage()
  await expect.poll(() => guard?.fault?.reason).toMatch(reason)
  for (const path of ['/v2/vaults', '/v2/health', '/v2/detailed-vaults']) {
    const { status, body, headers } = await ask(path)
    expect({ path, status }).toEqual({ path, status: 503 })
    expect(body.message).toMatch(reason)
    expect(body.message).toContain('vaultlog rebuild')
    expect(headers['retry-after']).toBe('30')
  }
  await expect(pipeline.project()).rejects.toThrow(ReadModelsLostError)
})

test('nothing is added to lost read models, and commands say what to do', async () => {
  await lose()
  guard = await guardReadModels(stores(), { everyMs: 100, patienceMs: 100 })
  await grow(5)
  const before = await readStatus(pipeline.postgres.pool)
  const worker = startWorker({
    pool: pipeline.postgres.pool,
    clickhouse: pipeline.clickhouse,
    projections: pipeline.projections,
    queue: { databaseUrl: pipeline.postgres.url },
    concurrency: 2,
    guard,
  })
  // Two sweeps: a worker that does not heed the guard has moved some checkpoint by then.
  await new Promise(resolve => setTimeout(resolve, 2_500))
  await worker.stop()
  const positions = (of: typeof before) => of.map(({ projections }) => projections.map(p => p.position))
  expect(positions(await readStatus(pipeline.postgres.pool))).toEqual(positions(before))

  const replayed = await vaultlog(pipeline.env(), 'replay')
  expect(replayed.code).toBe(1)
  expect(replayed.stderr).toContain('vaultlog rebuild')
  const { stdout } = await vaultlog(pipeline.env(), 'status')
  expect(stdout.split('\n')[0]).toContain('READ MODELS: The ClickHouse database is not the one')
})

test('a rebuild gives the rows that were there, and the API says how far it is until then', async () => {
  const sums = await pipeline.visibleSums()
  expect(Object.values(sums).filter(({ rows }) => rows > 0).length).toBeGreaterThan(8)
  await lose()
  guard = await guardReadModels(stores(), { everyMs: 50, patienceMs: 50 })
  api = await startApi({ on: { postgres: pipeline.postgres, clickhouse: pipeline.clickhouse }, guard })
  await api.catalogue.refresh()
  const ask = () =>
    supertest(api?.app ?? '')
      .get('/v2/vaults')
      .set('x-api-key', api?.apiKey ?? '')

  const stop = new AbortController()
  const { onBatch } = stopAfter(stop, 5)
  await expect(
    rebuild({
      pool: pipeline.postgres.pool,
      clickhouse: pipeline.clickhouse,
      projections: pipeline.projections,
      progress: { start: () => ({ update: onBatch, finish() {} }), close() {} },
      signal: stop.signal,
    }),
  ).rejects.toThrow('Interrupted')
  await expect.poll(() => guard?.fault?.kind).toBe('rebuilding')
  const half = await ask()
  expect(half.status).toBe(503)
  expect(half.body.message).toMatch(/made anew: \d+ % done/)

  await rebuildAll({ resume: true })
  await expect.poll(() => guard?.fault).toBeUndefined()
  expect(await pipeline.visibleSums()).toEqual(sums)
  await api.catalogue.refresh()
  const whole = await ask()
  expect(whole.status).toBe(200)
  expect(whole.body.data.length).toBeGreaterThan(0)

  await grow(10)
  await pipeline.project()
  expect(await checkReadModels(stores())).toBeUndefined()
})

/** Aborts when as many looks have shown some progress. */
function stopAfter(stop: AbortController, looks: number) {
  let seen = 0
  return {
    onBatch(done: number) {
      if (done > 0 && ++seen === looks) stop.abort()
    },
  }
}

test('an event store restored from a backup: a rebuild gives the read models of then, and indexing goes on from there', async () => {
  const { url } = pipeline.postgres
  const sums = await pipeline.visibleSums()
  const server = new pg.Client({ connectionString: inject('postgresUrl') })
  const source = new URL(url).pathname.slice(1)
  const backup = `${source}_backup`
  const restored = new URL(url)
  restored.pathname = `/${backup}`
  await server.connect()
  try {
    // A copy by Postgres itself, of one moment; it wants nobody else there.
    await server.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [source])
    await server.query(`CREATE DATABASE ${backup} TEMPLATE ${source}`)
    await grow(20)
    await pipeline.project()
    expect(await pipeline.visibleSums()).not.toEqual(sums)

    const older = openPostgres(restored.href, 'test', 8)
    try {
      const fault = await checkReadModels({ pool: older, clickhouse: pipeline.clickhouse.client })
      expect(fault?.reason).toMatch(/event store is older than the read models/)
      const said = await vaultlog({ ...pipeline.env(), DATABASE_URL: restored.href }, 'rebuild')
      expect(said.code, said.stderr).toBe(0)
      expect(await pipeline.visibleSums()).toEqual(sums)
      const fresh = new RandomChain(22).grow(5).log
      await appendBlocks(
        older,
        MAINNET,
        'mainnet',
        fresh.map(({ block, event }) => ({ block, events: [event] })),
      )
      await catchUpAll({
        pool: older,
        clickhouse: pipeline.clickhouse.client,
        projections: pipeline.projections,
      })
      expect(await checkReadModels({ pool: older, clickhouse: pipeline.clickhouse.client })).toBeUndefined()
    } finally {
      await older.end()
    }
  } finally {
    await server.query(`DROP DATABASE IF EXISTS ${backup}`)
    await server.end()
  }
})

test('the command rebuilds beside a running worker', async () => {
  const sums = await pipeline.visibleSums()
  await lose()
  guard = await guardReadModels(stores(), { everyMs: 50, patienceMs: 50 })
  const worker = startWorker({
    pool: pipeline.postgres.pool,
    clickhouse: pipeline.clickhouse,
    projections: pipeline.projections,
    queue: { databaseUrl: pipeline.postgres.url },
    concurrency: 2,
    guard,
  })
  try {
    const { code, stdout, stderr } = await vaultlog(pipeline.env(), 'rebuild')
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stderr).toMatch(/read models: \d+\/\d+ positions \(100%\)/)
    expect(stdout).toContain('All read models are made anew')
  } finally {
    await worker.stop()
  }
  expect(await pipeline.visibleSums()).toEqual(sums)
})

test('a new installation needs no word of anybody', async () => {
  const postgres = await createPostgres()
  const { house, drop } = await createClickHouse()
  try {
    expect(await checkReadModels({ pool: postgres.pool, clickhouse: house.client })).toBeUndefined()
    expect(await house.query('test', 'SELECT count() AS n FROM identity')).toEqual([{ n: '1' }])
  } finally {
    await drop()
    await postgres.drop()
  }
})
