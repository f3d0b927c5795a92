import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { to as copyTo } from 'pg-copy-streams'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openPostgres } from '../../db/postgres.ts'
import { openQueueBackend } from '../../db/queues.ts'
import { createPostgres } from '../databases.ts'
import { startTcpProxy, type TcpProxy } from '../faults/tcp-proxy.ts'
import { serveGraphql } from './graphql-server.ts'

/** Longer than nothing may pass before the server is asked. */
const LONG_MS = 18_000

let forgetful: TcpProxy
beforeAll(async () => {
  forgetful = await startTcpProxy(inject('postgresUrl'))
})
afterAll(() => forgetful?.stop())

describe.concurrent('a connection to Postgres', () => {
  it('over which no answer can come is left, and the next one answers', async () => {
    const pool = openPostgres(forgetful.url, 'test', 2)
    const client = await pool.connect()
    await client.query('BEGIN')
    forgetful.hush()
    await expect(client.query('SELECT 1')).rejects.toThrow(/Connection terminated/)
    client.release(true)
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await pool.end()
  })

  it('is left also where nobody could be asked about it at first', { timeout: 120_000 }, async ({
    expect,
  }) => {
    const proxy = await startTcpProxy(inject('postgresUrl'))
    const pool = openPostgres(proxy.url, 'test', 1)
    await pool.query('SELECT 1')
    proxy.hush()
    proxy.isSilent = true
    const lost = expect(pool.query('SELECT 1')).rejects.toThrow(/works on no statement/)
    await pause(LONG_MS + 10_000)
    proxy.isSilent = false
    await lost
    await pool.end()
    await proxy.stop()
  })

  it('is kept for as long as a statement takes', async () => {
    const pool = openPostgres(inject('postgresUrl'), 'test', 1)
    const { rows } = await pool.query(`SELECT 1 AS one FROM pg_sleep(${LONG_MS / 1000})`)
    expect(rows).toEqual([{ one: 1 }])
    await pool.end()
  })

  it('is kept while what it sent is not read', async () => {
    const pool = openPostgres(inject('postgresUrl'), 'test', 1)
    const client = await pool.connect()
    const rows = client.query(
      copyTo(`COPY (SELECT repeat('x', 1000) FROM generate_series(1, 1000)) TO STDOUT`),
    )
    let bytes = 0
    for await (const chunk of rows) {
      if (bytes === 0) await pause(LONG_MS)
      bytes += chunk.length
    }
    expect(bytes).toBe(1_001_000)
    client.release()
    await pool.end()
  })

  it('of GraphQL is left as well', { timeout: 240_000 }, async ({ expect }) => {
    const postgres = await createPostgres()
    const proxy = await startTcpProxy(postgres.url)
    const server = await serveGraphql({ DATABASE_URL: postgres.url, GRAPHQL_DATABASE_URL: proxy.url })
    const asked = async () => (await server.ask('{ events(limit: 1) { id } }')).json()
    expect(await asked()).toEqual({ data: { events: [] } })
    proxy.hush()
    expect(await asked()).toHaveProperty('errors')
    // Others of its five connections may have been there before.
    await expect.poll(asked, { timeout: 120_000 }).toEqual({ data: { events: [] } })
    await server.stop()
    await proxy.stop()
    await postgres.drop()
  })

  it('on which a worker listens is made anew', { timeout: 120_000 }, async ({ expect }) => {
    const postgres = await createPostgres()
    const proxy = await startTcpProxy(postgres.url)
    const queues = openQueueBackend({ databaseUrl: proxy.url })
    await queues.createWorker('test', async () => {}).waitUntilReady()
    const listening = async () => {
      const { rows } = await postgres.pool.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%LISTEN %' AND pid <> pg_backend_pid()`,
      )
      return rows.map(({ pid }) => pid)
    }
    await expect.poll(listening, { timeout: 30_000 }).toHaveLength(1)
    const before = await listening()
    proxy.hush()
    await expect
      .poll(async () => (await listening()).filter(pid => !before.includes(pid)), { timeout: 80_000 })
      .toHaveLength(1)
    await queues.close()
    await proxy.stop()
    await postgres.drop()
  })

  it('that is taken and left without a word is given up', async () => {
    const silent = createServer(() => {})
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    const to = new URL(inject('postgresUrl'))
    to.port = String((silent.address() as { port: number }).port)
    const pool = openPostgres(to.href, 'test', 1)
    await expect(pool.query('SELECT 1')).rejects.toThrow(/timeout/)
    await pool.end()
    silent.close()
  })
})
