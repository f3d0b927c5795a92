import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { readEnv } from '../../db/process/env.ts'
import { ConfigError, UnavailableError } from '../../db/process/errors.ts'
import { openEventStore, openStores } from '../../db/stores.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'
import { vaultlog } from '../faults/command.ts'

let postgres: TestPostgres
let silent: Server
let port: number
const sockets: Socket[] = []
beforeAll(async () => {
  postgres = await createPostgres()
  // Takes connections and says nothing.
  silent = createServer(socket => sockets.push(socket.on('error', () => {}).resume()))
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  port = (silent.address() as { port: number }).port
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  silent?.close()
  await postgres?.drop()
})

const open = (urls: Record<string, string>) =>
  openStores(
    readEnv({ DATABASE_URL: postgres.url, CLICKHOUSE_URL: inject('clickhouseUrl'), ...urls }),
    'test',
    2,
    4_000,
  ).then(
    () => expect.fail('opened'),
    (error: Error) => error,
  )

test.each([
  ['DATABASE_URL', 'postgres://me:secret@127.0.0.1:', '/x?sslmode=disable'],
  ['CLICKHOUSE_URL', 'http://me:secret@127.0.0.1:', '/'],
])(
  'a database that is not there or says nothing is an error soon, with the setting: %s',
  async (setting, before, after) => {
    for (const at of [1, port]) {
      const error = await open({ [setting]: `${before}${at}${after}` })
      expect(error).toBeInstanceOf(UnavailableError)
      expect(error.message).toContain(`//me@127.0.0.1:${at}${after.replace(/\?.*/, '')} does not answer`)
      expect(error.message).toContain(setting)
      expect(error.message).not.toContain('secret')
    }
  },
)

test('a database that refuses is a matter of configuration', async () => {
  const unknown = new URL(postgres.url)
  unknown.pathname = '/nowhere'
  const error = await open({ DATABASE_URL: unknown.href })
  expect(error).toBeInstanceOf(ConfigError)
  expect(error.message).toMatch(/\/nowhere refuses: database "nowhere" does not exist.* DATABASE_URL/)
})

test('what asks nothing of ClickHouse does not need it', async () => {
  const env = readEnv({ DATABASE_URL: postgres.url, CLICKHOUSE_URL: 'http://127.0.0.1:1' })
  const store = await openEventStore(env, 'test', 2)
  expect((await store.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  await store.close()

  const urls = { DATABASE_URL: postgres.url, CLICKHOUSE_URL: 'http://127.0.0.1:1' }
  const [status, exported] = await Promise.all([
    vaultlog(urls, 'status'),
    vaultlog(urls, 'export', 'event', '/dev/null'),
  ])
  expect([status.code, status.stdout]).toEqual([0, expect.stringContaining('Nothing is stored yet')])
  expect(exported.code).toBe(1)
  expect(exported.stderr).toMatch(/^ClickHouse at .* does not answer: .*CLICKHOUSE_URL/)
})
