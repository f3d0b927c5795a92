import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BlockEvents, registerStream } from '../../db/events/event-store.ts'
import { retireChain } from '../../db/events/retire.ts'
import { reconcileSources } from '../../db/events/watched-sources.ts'
import { type MetricsServer, serveMetrics } from '../../db/process/metrics.ts'
import { openQueueBackend, type QueueBackend } from '../../db/queues.ts'
import { QUEUE } from '../../db/wake-ups.ts'
import { exposeStatus } from '../../jobs/metrics.ts'
import { freePort } from '../chain/anvil-process.ts'
import { parseExposition } from '../metrics.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { appendBlocks } from '../read-api/append.ts'

/** What a worker tells of chains, projections and feeds that were taken away: an alert on it could never be cleared. */
const WATCHED = `0x${'a1'.repeat(20)}`
const DROPPED = `0x${'b2'.repeat(20)}`
/** Followed by its name, and not watched: it did not answer. */
const MUTE = `0x${'c2'.repeat(20)}`
const feedOf = (aggregator: string) => aggregator.replaceAll('1', '3').replaceAll('2', '4')
let pipeline: Pipeline
let backend: QueueBackend
let server: MetricsServer

const report = (aggregator: string, timestamp: number, number: number): BlockEvents => ({
  block: { number, hash: `0x${String(number).padStart(64, '0')}`, timestamp },
  events: [
    {
      type: 'PriceReported',
      contract: aggregator,
      logIndex: 0,
      data: {
        source: 'chainlink',
        feed: feedOf(aggregator),
        answer: 100n,
        decimals: 8,
        reportedAt: timestamp,
      },
    },
  ],
})

beforeAll(async () => {
  pipeline = await createPipeline()
  const { pool, url } = pipeline.postgres
  for (const [chain, name] of [
    [1, 'mainnet'],
    [8453, 'base'],
  ] as const) {
    await appendBlocks(pool, chain, name, [
      report(WATCHED, 1_000_000, 1),
      report(DROPPED, 1_000_060, 2),
      report(WATCHED, 1_000_100, 3),
      report(MUTE, 1_000_110, 4),
    ])
    await reconcileSources(pool, chain, [{ kind: 'chainlink-aggregator', contract: WATCHED }], 0)
  }
  await pipeline.project()
  await pool.query(
    `INSERT INTO checkpoint (projection, stream, version, position) VALUES ('taken_away', 1, 1, 0);
     INSERT INTO verification (table_name, stream, is_equal, checked_at)
     VALUES ('taken_away', 'mainnet', false, 'epoch'), ('holder', 'mainnet', true, now())`,
  )
  await retireChain(pool, 8453, 'base')
  await registerStream(pool, 137, 'polygon', 'evm')

  backend = openQueueBackend({ databaseUrl: url })
  exposeStatus({
    pool,
    clickhouse: pipeline.clickhouse.client,
    queue: backend.createQueue(QUEUE),
    projections: pipeline.projections,
    feeds: new Map([[1, new Set([feedOf(MUTE)])]]),
  })
  server = await serveMetrics({ port: await freePort(), what: 'this test', setting: 'WORKER_METRICS_PORT' })
})
afterAll(async () => {
  await server?.close()
  await backend?.close()
  await pipeline?.drop()
})

test('age is told of chains that are indexed, also of one that never stored a block, and of feeds that are watched, the rest of what there is', async () => {
  const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`)
  const { samples } = parseExposition(await answer.text())
  const labels = (metric: string, label: string) =>
    [...new Set(samples.filter(({ name }) => name === metric).map(sample => sample.labels[label]))].sort()

  expect(labels('vaultlog_stream_age_seconds', 'stream')).toEqual(['mainnet', 'polygon'])
  expect(labels('vaultlog_stream_head_position', 'stream')).toEqual([
    'base',
    'mainnet',
    'polygon',
    'registry',
  ])
  expect(labels('vaultlog_feed_age_seconds', 'feed')).toEqual([feedOf(WATCHED), feedOf(MUTE)])
  expect(labels('vaultlog_feed_age_seconds', 'chain')).toEqual(['mainnet'])
  const chains = pipeline.projections.filter(({ streams }) => streams === 'evm').map(({ name }) => name)
  expect(labels('vaultlog_projection_behind_events', 'projection')).toEqual(['event', ...chains].sort())
  expect(labels('vaultlog_verify_equal', 'table')).toEqual(['holder'])
  expect(labels('vaultlog_verify_timestamp_seconds', 'table')).toEqual(['holder'])
})
