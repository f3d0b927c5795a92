import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type ClickHouse, openClickHouse } from '../../db/clickhouse/client.ts'
import { recordFacts } from '../../db/registry/registry.ts'
import { listStreams } from '../../jobs/checkpoints.ts'
import { mirrorStream } from '../../jobs/mirror.ts'
import { startWorker } from '../../jobs/worker.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'

vi.setConfig({ testTimeout: 130_000 })

let pipeline: Pipeline
let stream: number
const FACTS = 5000
beforeAll(async () => {
  pipeline = await createPipeline()
  const facts = Array.from({ length: FACTS }, (_, i) => ({
    subject: `vault:${i}`,
    kind: 'tag' as const,
    value: { tag: `a tag long enough that all of them do not fit the buffers between two databases, ${i}` },
  }))
  await recordFacts(pipeline.postgres.pool, facts, 1000)
  stream =
    (await listStreams(pipeline.postgres.pool)).find(({ kind }) => kind === 'registry')?.id ?? Number.NaN
})
afterAll(() => pipeline?.drop())

/** A ClickHouse that takes connections and breaks each when its first bytes arrive, or is not there at all. */
async function broken(there: boolean): Promise<{ url: string; close(): void }> {
  const server = createServer(socket => socket.on('error', () => {}).once('data', () => socket.destroy()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { port: number }
  if (!there) server.close()
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

test.each([
  ['is not there', false],
  ['breaks the connection half-way', true],
])('a ClickHouse that %s fails the copy, which frees the stream for the next try', async (_, there) => {
  const down = await broken(there)
  const clickhouse = openClickHouse({ url: down.url, database: 'vaultlog' })
  try {
    await expect(mirrorStream(pipeline.postgres.pool, clickhouse.client, stream)).rejects.toThrow()
  } finally {
    down.close()
    await clickhouse.close()
  }
  const { rows } = await pipeline.postgres.pool.query(
    "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
  )
  expect(rows).toEqual([])
})

test('a job that keeps failing is a dead letter, until what it was for is done', async () => {
  const { pool, url } = pipeline.postgres
  const down = await broken(false)
  const unreachable = openClickHouse({ url: down.url, database: 'vaultlog' })
  const letters = async () => {
    const { rows } = await pool.query<{ stage: string; contract: string; open: boolean }>(
      'SELECT stage, contract, resolved_at IS NULL AS open FROM dead_letter',
    )
    return rows
  }
  const working = (client: ClickHouse) =>
    startWorker({
      pool,
      clickhouse: client,
      projections: [],
      concurrency: 1,
      queue: { databaseUrl: url },
    })
  const failing = working(unreachable)
  await expect.poll(letters).toEqual([{ stage: 'mirror', contract: 'event', open: true }])
  await failing.stop()
  await unreachable.close()
  const able = working(pipeline.clickhouse)
  await expect.poll(letters).toEqual([{ stage: 'mirror', contract: 'event', open: false }])
  await able.stop()
})

test('and everything is copied, once', async () => {
  expect(await mirrorStream(pipeline.postgres.pool, pipeline.clickhouse.client, stream)).toBe(FACTS)
  const [row] = await pipeline.rows<{ n: string }>('SELECT count() AS n FROM event')
  expect(Number(row?.n)).toBe(FACTS)
})
