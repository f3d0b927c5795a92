import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { networkInterfaces } from 'node:os'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { ChainDatabase } from '../../db/events/chain-database.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'
import { start } from '../faults/command.ts'
import { type GraphqlServer, serveGraphql } from './graphql-server.ts'

const vault = `0x${'ab'.repeat(20)}`
let postgres: TestPostgres
let server: GraphqlServer
let url: string

/** The database as the role that reads the view of events, where there is one. */
function reader(database: string): string {
  const url = inject('graphqlUrl')
  return url && Object.assign(new URL(url), { pathname: new URL(database).pathname }).href
}

beforeAll(async () => {
  postgres = await createPostgres()
  const database = new ChainDatabase({ pool: postgres.pool, stream: 10, name: 'optimism' })
  await database.connect()
  const hash = `0x${'01'.repeat(32)}`
  await database.transact(
    { prevHead: { height: -1, hash: '0x' }, nextHead: { height: 7, hash }, isOnTop: true },
    async store => {
      store.append([
        {
          block: { number: 7, hash, timestamp: 1_700_000_000 },
          events: [
            { type: 'VaultRejected', contract: vault, data: { vault, reason: 'no asset()' } },
            {
              type: 'Deposited',
              protocol: 'erc-4626',
              contract: vault,
              logIndex: 3,
              transactionHash: hash,
              data: { sender: vault, owner: vault, assets: 2n ** 200n, shares: 1n, ledger: 'self' },
            },
          ],
        },
      ])
    },
  )
  await database.close()
  server = await serveGraphql({ DATABASE_URL: postgres.url, GRAPHQL_DATABASE_URL: reader(postgres.url) })
  url = server.url
})

afterAll(async () => {
  await server.stop()
  await postgres.drop()
})

test('what Postgres refuses is told, whatever the query was asked with', async () => {
  await postgres.pool.query('ALTER VIEW event RENAME TO event_elsewhere')
  try {
    for (const where of ['type_eq: "Deposited"', 'position_gt: "0"']) {
      const answer = await server.ask(
        `{ events(where: {${where}}, orderBy: position_ASC, limit: 10) { id } }`,
      )
      expect(await answer.text()).toContain('relation \\"event\\" does not exist')
    }
  } finally {
    await postgres.pool.query('ALTER VIEW event_elsewhere RENAME TO event')
  }
})

test('raw events are served as stored, filtered and ordered', async () => {
  const answer = await server.ask(
    `{ events(where: {stream_eq: 10, type_eq: "Deposited"}, orderBy: position_ASC, limit: 10) {
        id protocol position blockNumber blockTime contract logIndex data } eventsConnection(orderBy: id_ASC) { totalCount } }`,
  )
  expect(await answer.json()).toEqual({
    data: {
      events: [
        {
          id: '10-00000000000002',
          protocol: 'erc-4626',
          position: '2',
          blockNumber: '7',
          blockTime: '2023-11-14T22:13:20.000000Z',
          contract: vault,
          logIndex: '3',
          data: { sender: vault, owner: vault, assets: (2n ** 200n).toString(), shares: '1', ledger: 'self' },
        },
      ],
      eventsConnection: { totalCount: 2 },
    },
  })
})

test('few questions at one time, and errors without paths', async () => {
  const fields = (count: number) =>
    `{ ${Array.from({ length: count }, (_, i) => `f${i}: eventsConnection(orderBy: id_ASC) { totalCount }`).join(' ')} }`
  expect(await (await server.ask(fields(5))).json()).toHaveProperty('data.f4.totalCount', 2)
  const refused = await (await server.ask(fields(6))).text()
  expect(refused).toMatch(/root fields/)
  expect(refused + (await (await server.ask('{ nothing }')).text())).not.toMatch(/stacktrace|node_modules/)
})

test('queries that clients ask to be kept take bounded memory, and no answer is kept', async () => {
  const askByHash = async (hash: string, query?: string) => {
    const extensions = { persistedQuery: { version: 1, sha256Hash: hash } }
    const body = JSON.stringify({ ...(query && { query }), extensions })
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return { text: await answer.text(), age: answer.headers.get('age') }
  }
  const keep = async (query: string) => {
    const hash = createHash('sha256').update(query).digest('hex')
    expect((await askByHash(hash, query)).text).toContain('"totalCount":2')
    return hash
  }
  const counted = (comment: string) => `# ${comment}\n{ eventsConnection(orderBy: id_ASC) { totalCount } }`
  const first = await keep(counted('first'))
  const again = await askByHash(first)
  expect(again.text).toContain('"totalCount":2')
  // What came from a cache would have one.
  expect(again.age).toBeNull()
  for (let i = 0; i < 50; i++) await keep(counted(`${i} ${'x'.repeat(200_000)}`))
  expect((await askByHash(first)).text).toContain('PersistedQueryNotFound')
})

test('not for pages of others: no name but this machine’s, no origin let in, one address', async () => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { origin: 'https://page.example', 'content-type': 'application/json' },
    body: '{"query":"{__typename}"}',
  })
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, null])
  const { port } = new URL(url)
  const status = await new Promise(resolve =>
    request(
      { host: '127.0.0.1', port, path: '/graphql', headers: { host: `evil.example:${port}` } },
      response => {
        response.resume()
        resolve(response.statusCode)
      },
    ).end(),
  )
  expect(status).toBe(403)
  const other = Object.values(networkInterfaces())
    .flat()
    .find(one => one && !one.internal && one.family === 'IPv4')
  if (other) await expect(fetch(`http://${other.address}:${port}/graphql`)).rejects.toThrow()
})

test('reads the view and nothing else', async () => {
  if (inject('graphqlUrl') === '') return
  const client = new pg.Client({ connectionString: reader(postgres.url) })
  await client.connect()
  try {
    expect((await client.query('SELECT count(*)::int AS n FROM event')).rows).toEqual([{ n: 2 }])
    for (const table of ['event_log', 'api_key', 'stream'])
      await expect(client.query(`SELECT * FROM ${table}`)).rejects.toThrow(/permission denied/)
  } finally {
    await client.end()
  }
})

test('a port in use is one line with the name of the setting', async () => {
  const said = await start(['db/graphql.ts'], {
    DATABASE_URL: postgres.url,
    GRAPHQL_PORT: new URL(url).port,
    LOG_LEVEL: 'error',
  }).ended
  expect(said.code).toBe(1)
  expect(said.stderr.trim().split('\n')).toHaveLength(1)
  expect(said.stderr).toContain('GRAPHQL_PORT to another port')
})
