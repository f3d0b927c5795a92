import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { passwordsOf } from '../../db/embedded/passwords.ts'
import { type EmbeddedPostgres, startPostgres } from '../../db/embedded/postgres.ts'
import { urlsOf } from '../../db/embedded/postgres-roles.ts'
import { createCreditMeter } from '../../db/keys/credits.ts'
import { createKey, createKeyVerifier } from '../../db/keys/keys.ts'
import { migratePostgres, openPostgres } from '../../db/postgres.ts'
import { readEnv } from '../../db/process/env.ts'
import { readFault } from '../../db/read-models.ts'
import { RIGHTS } from '../../db/roles.ts'
import { readStatus } from '../../db/status.ts'
import { appendBlocks } from '../read-api/append.ts'
import { ownPlace } from './embedded/places.ts'

const PASSWORD = `p@ss:w/rd#?%41 '"$\\`
const sql = readFileSync(new URL('../../deploy/postgres/roles.sql', import.meta.url), 'utf8')

let place: Awaited<ReturnType<typeof ownPlace>>
let server: EmbeddedPostgres
let owner: pg.Pool
const pools: Record<string, pg.Pool> = {}
const as = (role: string): pg.Pool => {
  const port = place.env.EMBEDDED_POSTGRES_PORT
  const { DATABASE_URL = '' } = readEnv({
    DATABASE_URL: `postgres://vaultlog_${role}@127.0.0.1:${port}/vaultlog`,
    DATABASE_PASSWORD: PASSWORD,
  })
  pools[role] ??= openPostgres(DATABASE_URL, 'test')
  return pools[role]
}

beforeAll(async () => {
  place = await ownPlace()
  server = await startPostgres(place.env)
  const admin = new pg.Client(
    urlsOf(place.env.EMBEDDED_POSTGRES_PORT, passwordsOf(place.env.VAULTLOG_DIR)).admin,
  )
  await admin.connect()
  for (const statement of sql.replaceAll(/^--.*$/gm, '').split(';'))
    await admin.query(statement).catch((error: { code?: string }) => {
      // What the embedded server made before.
      if (!['42710', '42P04'].includes(error.code ?? '')) throw error
    })
  for (const role of ['processor', 'worker', 'api', 'graphql'])
    await admin.query(`ALTER ROLE vaultlog_${role} PASSWORD ${admin.escapeLiteral(PASSWORD)}`)
  await admin.end()
  owner = openPostgres(server.url, 'test')
  await migratePostgres(owner)
})
afterAll(async () => {
  for (const pool of [owner, ...Object.values(pools)]) await pool?.end()
  await server?.stop()
  place?.remove()
})

const refused = { code: '42501' }
const block = { number: 1, hash: `0x${'1'.repeat(64)}`, timestamp: 1_700_000_000 }
const feed = `0x${'2'.repeat(40)}`

it('names the rights on every table there is', async () => {
  const { rows } = await owner.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') AND NOT relispartition`,
  )
  expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(RIGHTS).sort())
})

it('finds a migrated database as any of them, and may migrate as none', async () => {
  for (const role of ['processor', 'worker', 'api', 'graphql']) {
    expect(await migratePostgres(as(role))).toEqual([])
    // GraphQL's transactions are read-only besides.
    const code = role === 'graphql' ? '25006' : '42501'
    await expect(as(role).query('CREATE TABLE mine (a int)')).rejects.toMatchObject({ code })
    await expect(as(role).query('ALTER TABLE event_log DISABLE TRIGGER ALL')).rejects.toMatchObject({ code })
  }
})

it('lets processors append and nothing else of the store', async () => {
  const data = { feed, source: 'chainlink', answer: 5n, decimals: 8, reportedAt: 1 }
  await appendBlocks(as('processor'), 1, 'mainnet', [
    { block, events: [{ type: 'PriceReported', contract: feed, data }] },
  ])
  expect((await as('processor').query('SELECT type FROM event_log')).rows).toEqual([
    { type: 'PriceReported' },
  ])
  for (const statement of [
    'UPDATE event_log SET type = type',
    'DELETE FROM event_log',
    'TRUNCATE event_log',
    'SELECT 1 FROM api_key',
    'UPDATE checkpoint SET position = 0',
  ])
    await expect(as('processor').query(statement), statement).rejects.toMatchObject(refused)
})

it('lets workers keep checkpoints and letters, and write no event and see no key', async () => {
  const worker = as('worker')
  await worker.query("INSERT INTO checkpoint (projection, stream) VALUES ('flow', 1) ON CONFLICT DO NOTHING")
  await worker.query(
    "INSERT INTO dead_letter (stage, stream, reason, payload) VALUES ('project', 1, 'why', '{}')",
  )
  await worker.query('UPDATE read_models SET checked_at = clock_timestamp()')
  expect(await readStatus(worker)).toMatchObject([{ name: 'mainnet', head: 1, deadLetters: 1 }])
  for (const statement of [
    'INSERT INTO event_log SELECT * FROM event_log',
    "UPDATE stream SET name = 'x'",
    'SELECT 1 FROM api_key',
    "SELECT register_stream(5, 'x', 'evm')",
  ])
    await expect(worker.query(statement), statement).rejects.toMatchObject(refused)
})

it('lets the API know keys, book credits and read, and change nothing else', async () => {
  const { id, key } = await createKey(owner, { name: 'somebody', plan: 'free' })
  const api = as('api')
  expect(await createKeyVerifier(api)(key)).toMatchObject({ id })
  const meter = createCreditMeter(api, { namespace: 'test' })
  await meter.charge({ id, creditsPerMonth: 10 }, 3)
  await meter.close()
  expect((await api.query('SELECT credits FROM api_usage')).rows).toEqual([{ credits: 3 }])
  expect(await readFault(api)).toBeUndefined()
  for (const statement of [
    'UPDATE api_key SET revoked_at = NULL',
    'INSERT INTO api_plan SELECT * FROM api_plan',
    'DELETE FROM dead_letter',
    'UPDATE checkpoint SET position = 0',
    'INSERT INTO event_log SELECT * FROM event_log',
  ])
    await expect(api.query(statement), statement).rejects.toMatchObject(refused)
})

it('lets GraphQL read raw events alone', async () => {
  expect((await as('graphql').query('SELECT count(*)::int AS n FROM event')).rows).toEqual([{ n: 1 }])
  for (const table of ['event_log', 'stream', 'api_key', 'dead_letter'])
    await expect(as('graphql').query(`SELECT 1 FROM ${table}`), table).rejects.toMatchObject(refused)
})
