import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClickHouse, openClickHouse } from '../../db/clickhouse/client.ts'
import { type EmbeddedClickHouse, startClickHouse } from '../../db/embedded/clickhouse.ts'
import { type EmbeddedPostgres, startPostgres } from '../../db/embedded/postgres.ts'
import { openPostgres } from '../../db/postgres.ts'
import { readEnv } from '../../db/process/env.ts'
import { readStatus } from '../../db/status.ts'
import { listStreams } from '../../jobs/checkpoints.ts'
import { loadProjections, type Projection } from '../../jobs/projection.ts'
import { type Supervisor, supervise } from '../../jobs/supervisor.ts'
import { verify } from '../../jobs/verify.ts'
import { freePort } from '../chain/anvil-process.ts'
import { seededRandom } from '../chain/random.ts'
import { newFolder } from '../db/embedded/places.ts'
import { createPipeline, visibleSumsOf } from '../pipeline.ts'
import { doubledLogs, indexedBalances, storeSum, untilAtHead } from './checks.ts'
import { start } from './command.ts'
import { type SmallChain, startSmallChain } from './small-chain.ts'

const SEED = Number(process.env['TEST_SEED'] ?? 20_261)
const FINALITY = 20
/** Seconds: a supervisor's pauses between starts grow to half a minute. */
const PATIENCE = 180
const random = seededRandom(SEED)

let folder: string
let chain: SmallChain
let postgres: EmbeddedPostgres
let house: EmbeddedClickHouse
let processes: Supervisor | undefined
let pool: pg.Pool
let clickhouse: ClickHouse
let projections: Projection[]
let variables: Record<string, string>
const said: string[] = []

beforeAll(async () => {
  folder = newFolder('vaultlog-kills-')
  const env = readEnv({
    VAULTLOG_DIR: folder,
    EMBEDDED_POSTGRES_PORT: String(await freePort()),
    EMBEDDED_CLICKHOUSE_PORT: String(await freePort()),
  })
  ;[postgres, house, chain] = await Promise.all([
    startPostgres(env),
    startClickHouse(env),
    startSmallChain(SEED),
  ])
  await chain.live(60)
  variables = {
    DATABASE_URL: postgres.url,
    CLICKHOUSE_URL: house.url,
    REDIS_URL: '',
    RPC_MAINNET: chain.node.rpcUrl,
    FINALITY_MAINNET: String(FINALITY),
    POLL_INTERVAL_MS: '50',
    LOG_LEVEL: 'info',
    SQD_WARN: '*',
  }
  pool = openPostgres(postgres.url, 'test')
  clickhouse = openClickHouse({ url: house.url, database: 'vaultlog' })
  projections = await loadProjections()
})
afterAll(async () => {
  await processes?.stop()
  await pool?.end().catch(() => {})
  await clickhouse?.close()
  await house?.stop()
  await postgres?.stop()
  await chain?.node.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

function killOf(name: string): void {
  const own = processes?.processes.find(process => process.name === name)
  const pid = own ? own.pid : name === 'postgres' ? postgres.pid() : house.pid()
  // None: down already, and being started again.
  if (pid) process.kill(pid, 'SIGKILL')
}

/** Blocks go on coming until the function given back is called. */
function traffic(seconds: number): () => Promise<void> {
  let going = true
  const loop = (async () => {
    while (going) {
      await chain.live(1)
      await pause(seconds * 1000)
    }
  })()
  return async () => {
    going = false
    await loop
  }
}

async function untilProjected(): Promise<void> {
  await untilAtHead(pool, chain, PATIENCE)
  const deadline = Date.now() + PATIENCE * 1000
  let behind: unknown
  while (Date.now() < deadline) {
    const status = await readStatus(pool).catch(() => [])
    const mainnet = status.find(({ name }) => name === 'mainnet')
    const wanted = projections.filter(({ streams }) => streams === 'evm').length + 1
    behind = mainnet?.projections.filter(projection => projection.behind > 0 || projection.applying)
    if (mainnet?.projections.length === wanted && (behind as unknown[]).length === 0) return
    await pause(100)
  }
  expect.fail(`not caught up after ${PATIENCE} s: ${JSON.stringify(behind)}\n${said.slice(-30).join('\n')}`)
}

test('processor, worker, ClickHouse and Postgres killed again and again: all of it mends itself', async () => {
  const began = Date.now()
  processes = supervise(
    [
      { name: 'processor', args: ['processors/main.ts', 'mainnet'], env: variables },
      { name: 'worker', args: ['jobs/main.ts'], env: variables },
    ],
    line => said.push(line),
  )
  const parts = ['processor', 'worker', 'clickhouse', 'postgres']
  const plan = [...parts, ...parts, 'processor', 'worker', 'clickhouse', 'postgres']
    .map(name => ({ name, order: random.next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ name }) => name)
  const stopTraffic = traffic(0.15)
  // The first ones hit the start and the backfill, the others the head.
  for (const [i, name] of plan.entries()) {
    await pause(i < 4 ? random.between(300, 2500) : random.between(500, 4000))
    killOf(name)
  }
  await pause(2000)
  await stopTraffic()
  const quiet = Date.now()
  await untilProjected()
  console.info(
    `seed ${SEED}: ${plan.length} kills (${plan.join(', ')}) within ${((quiet - began) / 1000).toFixed(0)} s; ` +
      `caught up ${((Date.now() - quiet) / 1000).toFixed(1)} s after the last block`,
  )

  const store = await storeSum(pool)
  expect([store.first, store.last]).toEqual([1, store.count])
  expect(await doubledLogs(pool)).toEqual([])
}, 600_000)

test('SIGTERM in full traffic ends processor and worker within 15 s, the checkpoints equal to the data', async () => {
  await processes?.stop()
  processes = undefined
  const { rows: before } = await pool.query<{ head: number; now: string }>(
    'SELECT head, clock_timestamp()::text AS now FROM stream WHERE id = 1',
  )
  const stopTraffic = traffic(0.05)
  const own = [start(['processors/main.ts', 'mainnet'], variables), start(['jobs/main.ts'], variables)]
  try {
    // One that is still starting would be ended by the signal itself.
    await expect
      .poll(
        async () => {
          const { rows } = await pool.query<{ processor: boolean; worker: boolean }>(
            `SELECT head > $1::bigint + 10 AS processor,
               EXISTS (SELECT FROM checkpoint WHERE stream = 1 AND updated_at > $2::timestamptz) AS worker
             FROM stream WHERE id = 1`,
            [before[0]?.head, before[0]?.now],
          )
          return rows
        },
        { timeout: 120_000 },
      )
      .toEqual([{ processor: true, worker: true }])
    const asked = Date.now()
    for (const { child } of own) child.kill('SIGTERM')
    const ends = await Promise.all(own.map(({ ended }) => ended))
    console.info(`SIGTERM: both ended after ${Date.now() - asked} ms`)
    // One that takes longer by its own clock ends with 1.
    expect(ends.map(({ code }) => code)).toEqual([0, 0])
  } finally {
    for (const { child } of own) child.kill('SIGKILL')
    await stopTraffic()
  }
  const store = await storeSum(pool)
  const { rows } = await pool.query<{ head: number; head_height: number }>(
    'SELECT head, head_height FROM stream WHERE id = 1',
  )
  expect(rows[0]?.head).toBe(store.last)
  const { rows: checkpoints } = await pool.query<{
    projection: string
    position: number
    applying_to: number | null
  }>('SELECT projection, position, applying_to FROM checkpoint WHERE stream = 1')
  for (const { projection, position, applying_to } of checkpoints) {
    expect(applying_to, projection).toBeNull()
    const column = projection === 'event' ? 'stream' : 'chain_id'
    const [row] = await clickhouse.query<{ last: string }>(
      'test',
      `SELECT max(position) AS last FROM {table:Identifier} WHERE ${column} = 1`,
      { table: projection },
    )
    expect(Number(row?.last), projection).toBeLessThanOrEqual(position)
    if (projection === 'event') expect(Number(row?.last)).toBe(position)
  }
}, 600_000)

test('afterwards everything equals a clean run, and verify finds no difference', async () => {
  const own = [start(['processors/main.ts', 'mainnet'], variables), start(['jobs/main.ts'], variables)]
  try {
    await untilProjected()
  } finally {
    for (const { child } of own) child.kill('SIGTERM')
    await Promise.all(own.map(({ ended }) => ended))
  }
  const held = await chain.balances()
  const rows = <T>(query: string) => clickhouse.query<T>('test', query)
  const indexed = await indexedBalances({ rows })
  expect(indexed.history).toEqual(held)
  expect(indexed.heads).toEqual(held)
  const clean = await createPipeline()
  try {
    const head = (await chain.node.head()).number
    await clean.indexTo(head, { rpcUrl: chain.node.rpcUrl, finality: FINALITY })
    await clean.project()
    expect(await visibleSumsOf(clickhouse, projections)).toEqual(await clean.visibleSums())
  } finally {
    await clean.drop()
  }
  const progress = { start: () => ({ update() {}, finish() {} }), close() {} }
  const comparisons = await verify({
    pool,
    clickhouse,
    projections,
    streams: await listStreams(pool),
    progress,
  })
  expect(comparisons.filter(({ equal }) => !equal)).toEqual([])
  console.info(
    `verify: ${comparisons.length} tables equal, ${comparisons.reduce((sum, c) => sum + c.found.rows, 0)} rows`,
  )
}, 600_000)
