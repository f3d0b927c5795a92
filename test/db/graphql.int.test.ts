import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { ChainDatabase } from '../../db/events/chain-database.ts'
import { freePort } from '../chain/anvil-process.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'

const vault = `0x${'ab'.repeat(20)}`
let postgres: TestPostgres
let server: ChildProcess
let url: string

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
  const port = await freePort()
  url = `http://127.0.0.1:${port}/graphql`
  server = spawn(process.execPath, ['--import', 'tsx', 'db/graphql.ts'], {
    cwd: join(import.meta.dirname, '../..'),
    env: {
      ...process.env,
      DATABASE_URL: postgres.url,
      CLICKHOUSE_URL: inject('clickhouseUrl'),
      CLICKHOUSE_DATABASE: 'vaultlog_test_graphql',
      GRAPHQL_PORT: String(port),
    },
    stdio: 'ignore',
  })
  await vi.waitFor(() => fetch(url), { timeout: 180_000, interval: 100 })
})

afterAll(async () => {
  const ended = new Promise(resolve => server.once('exit', resolve))
  server.kill('SIGTERM')
  await ended
  await postgres.drop()
})

test('raw events are served as stored, filtered and ordered', async () => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      query: `{ events(where: {stream_eq: 10, type_eq: "Deposited"}, orderBy: position_ASC, limit: 10) {
        id position blockNumber blockTime contract logIndex data } eventsConnection(orderBy: id_ASC) { totalCount } }`,
    }),
  })
  expect(await answer.json()).toEqual({
    data: {
      events: [
        {
          id: '10-00000000000002',
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
