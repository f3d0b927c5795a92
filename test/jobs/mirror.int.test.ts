import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type ClickHouse, openClickHouse } from '../../db/clickhouse/client.ts'
import type { BlockEvents } from '../../db/events/event-store.ts'
import { rewindChain } from '../../db/events/rewind.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { recordFacts } from '../../db/registry/registry.ts'
import { listStreams } from '../../jobs/checkpoints.ts'
import { mirrorStream, tokenOf } from '../../jobs/mirror.ts'
import { startWorker } from '../../jobs/worker.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { appendBlocks } from '../read-api/append.ts'

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

test('samples that lie in one row of the event store are as many rows, and no batch ends amid a block', async () => {
  const { pool } = pipeline.postgres
  const vault = (n: number) => `0x${(n + 1).toString(16).padStart(40, '0')}`
  const sample = (n: number, totalAssets: bigint): DomainEvent => ({
    type: 'StateSampled',
    contract: vault(n),
    data: { vault: vault(n), reason: 'hourly', totalAssets, decimals: 18, assetDecimals: 6 },
  })
  const transfer = (n: number): DomainEvent => ({
    type: 'ShareTransferred',
    contract: vault(n),
    logIndex: n,
    transactionHash: `0x${'7'.repeat(64)}`,
    data: { from: vault(n), to: vault(n + 1), shares: BigInt(n) },
  })
  const blocks: BlockEvents[] = Array.from({ length: 60 }, (_, i) => {
    const samples = Array.from({ length: (i * 7) % 40 }, (_, n) =>
      sample(n, (n + i) % 3 === 0 ? BigInt(i) : 5n),
    )
    const events = i % 4 === 3 ? [...samples, transfer(i)] : [transfer(i), ...samples]
    const hash = `0x${(i + 1).toString(16).padStart(64, '0')}`
    return { block: { number: i + 1, hash, timestamp: 1_700_000_000 + i }, events }
  })
  await appendBlocks(pool, 77, 'chain 77', blocks)
  const { rows } = await pool.query(`SELECT FROM event_log WHERE stream = 77 AND type = 'Packed'`)
  expect(rows.length).toBeGreaterThan(40)
  const lines = blocks.flatMap(({ block, events }) =>
    events.map(({ type, contract, logIndex, data }) => {
      const said = 'totalAssets' in data ? data.totalAssets : 'shares' in data ? data.shares : ''
      return `${block.number} ${block.hash} ${block.timestamp} ${type} ${contract} ${logIndex ?? 4294967295} ${said}`
    }),
  )
  for (const most of [1, 7, 50]) {
    await pool.query('DELETE FROM checkpoint WHERE stream = 77')
    await pipeline.clickhouse.client.command({ query: 'ALTER TABLE event DROP PARTITION 77' })
    const ends: number[] = []
    const types = new Set<string>()
    const onBatch = (batch: { to: number; types?: ReadonlySet<string> }) => {
      ends.push(batch.to)
      for (const type of batch.types ?? []) types.add(type)
    }
    await mirrorStream(pool, pipeline.clickhouse.client, 77, onBatch, { isOver: () => false }, most)
    expect(types).toEqual(new Set(['ShareTransferred', 'StateSampled']))
    expect(ends.length).toBeGreaterThan(lines.length / (most + 41))
    const endsOfBlocks = blocks.map((_, i) =>
      blocks.slice(0, i + 1).reduce((sum, { events }) => sum + events.length, 0),
    )
    expect(ends.filter(end => !endsOfBlocks.includes(end))).toEqual([])
    const copied = await pipeline.rows<{ position: number; line: string }>(
      `SELECT toUInt32(position) AS position, concatWithSeparator(' ', toString(block_number), block_hash, toString(toUnixTimestamp(timestamp)), type,
         contract, toString(log_index), JSONExtractString(data, if(type = 'StateSampled', 'totalAssets', 'shares'))) AS line
       FROM event WHERE stream = 77 ORDER BY position`,
    )
    expect(copied).toEqual(lines.map((line, i) => ({ position: i + 1, line })))
  }
})

test('a copy of which a killed ClickHouse knows the tokens and has no rows is completed', async () => {
  const { pool } = pipeline.postgres
  const hash = (n: number) => `0x${(n + 100).toString(16).padStart(64, '0')}`
  const block = (n: number): BlockEvents => ({
    block: { number: n, hash: hash(n), timestamp: 1_700_000_000 + n },
    events: [
      {
        type: 'ShareTransferred',
        contract: `0x${'1'.repeat(40)}`,
        logIndex: 0,
        transactionHash: hash(n),
        data: { from: `0x${'2'.repeat(40)}`, to: `0x${'3'.repeat(40)}`, shares: 1n },
      },
    ],
  })
  await appendBlocks(pool, 78, 'chain 78', [block(1), block(2)])
  await rewindChain(pool, 78, 'chain 78', 1)
  await appendBlocks(pool, 78, 'chain 78', [{ ...block(2), block: { ...block(2).block, hash: hash(3) } }])
  const token = tokenOf(78, 0, 4)
  for (const [table, column] of [
    ['event', 'position'],
    ['retracted', 'retracted_by'],
  ]) {
    await pipeline.clickhouse.command(
      'test',
      `INSERT INTO ${table} (stream, ${column}) SETTINGS insert_deduplication_token = '${token}' SELECT 78, 0`,
    )
    await pipeline.clickhouse.command('test', `DELETE FROM ${table} WHERE stream = 78`)
  }
  const copied = async () => [
    ...(await pipeline.rows(
      'SELECT type, count() AS n FROM event WHERE stream = 78 GROUP BY type ORDER BY type',
    )),
    ...(await pipeline.rows('SELECT position, retracted_by FROM retracted WHERE stream = 78')),
  ]
  const mirrored = () => mirrorStream(pool, pipeline.clickhouse.client, 78)
  // So the tokens are those of the copy.
  expect(await mirrored()).toBe(4)
  expect(await copied()).toEqual([])
  for (let time = 1; time <= 2; time++) {
    await pool.query('UPDATE checkpoint SET position = 0, applying_to = 4 WHERE stream = 78')
    expect(await mirrored()).toBe(4)
    expect(await copied()).toEqual([
      { type: 'BlockRetracted', n: '1' },
      { type: 'ShareTransferred', n: '3' },
      { position: '2', retracted_by: '3' },
    ])
  }
})
