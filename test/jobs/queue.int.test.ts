import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openClickHouse } from '../../db/clickhouse/client.ts'
import { openQueueBackend } from '../../db/queues.ts'
import { asAdded, type Job, MIRROR, openWakeUps, QUEUE } from '../../db/wake-ups.ts'
import { startWorker } from '../../jobs/worker.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { appendBlocks } from '../read-api/append.ts'

vi.setConfig({ testTimeout: 120_000 })

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await createPipeline()
})
const closing: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closing.toReversed()) await close()
  await pipeline?.drop()
})

const CHAINS = [71, 72, 73]

/** Blocks up to `height` of every chain, of a transfer each. */
async function append(height: number): Promise<void> {
  for (const chain of CHAINS) {
    const hash = `0x${(chain * 1000 + height).toString(16).padStart(64, '0')}` as const
    await appendBlocks(pipeline.postgres.pool, chain, `chain ${chain}`, [
      {
        block: { number: height, hash, timestamp: 1_700_000_000 + height },
        events: [
          {
            type: 'ShareTransferred',
            contract: `0x${'1'.repeat(40)}`,
            logIndex: 0,
            transactionHash: hash,
            data: { from: `0x${'2'.repeat(40)}`, to: `0x${'3'.repeat(40)}`, shares: 1n },
          },
        ],
      },
    ])
  }
}

/** How many events of each chain are not in ClickHouse yet. */
async function behind(): Promise<number[]> {
  const { rows } = await pipeline.postgres.pool.query<{ left: number }>(
    `SELECT (head - coalesce(position, 0))::int AS left FROM stream
     LEFT JOIN checkpoint ON stream = id AND projection = $1 WHERE id = ANY ($2)`,
    [MIRROR, CHAINS],
  )
  return rows.map(({ left }) => left)
}

/** Long enough for the worker to look for lost work several times, and for a job of a dead one to be given again. */
const BLOCKS = 120

test('a worker that does not keep up has one job of a stream waiting, however many blocks come', async () => {
  const { pool, url } = pipeline.postgres
  // It takes connections and never answers: whoever copies a block waits.
  const sockets = new Set<Socket>()
  const server = createServer(socket => sockets.add(socket.on('error', () => {})))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { port: number }
  const deaf = openClickHouse({ url: `http://127.0.0.1:${port}`, database: 'vaultlog' })
  const backend = openQueueBackend({ databaseUrl: url })
  const queue = backend.createQueue<Job>(QUEUE)
  const wakeUps = openWakeUps({ databaseUrl: url })
  const options = { pool, projections: pipeline.projections, queue: { databaseUrl: url }, concurrency: 1 }
  const slow = startWorker({ ...options, clickhouse: deaf })
  const end = async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
    await slow.stop()
  }
  closing.push(
    () => deaf.close(),
    () => backend.close(),
    () => wakeUps.close(),
    end,
  )
  for (let height = 1; height <= BLOCKS; height++) {
    await append(height)
    await wakeUps.add(CHAINS.map(stream => ({ projection: MIRROR, stream, to: height })))
    const { waiting = 0, delayed = 0 } = await queue.getJobCounts('waiting', 'delayed')
    expect(waiting + delayed).toBeLessThanOrEqual(CHAINS.length)
    await pause(50)
  }
  await end()

  const able = startWorker({ ...options, clickhouse: pipeline.clickhouse })
  closing.push(() => able.stop())
  await expect.poll(behind).toEqual(CHAINS.map(() => 0))
  await expect.poll(() => queue.getJobCountByTypes('waiting', 'delayed', 'active')).toBe(0)
  await able.stop()
})

test('jobs that stand with a worker that does nothing any more are done by another', async () => {
  const { pool, url } = pipeline.postgres
  const backend = openQueueBackend({ databaseUrl: url })
  const queue = backend.createQueue<Job>(QUEUE)
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  // It renews its hold on the jobs: BullMQ never takes them from it.
  backend.createWorker<Job, void>(QUEUE, () => released, { concurrency: CHAINS.length })
  closing.push(() => backend.close(), release)
  await append(BLOCKS + 1)
  await queue.addBulk(CHAINS.map(stream => asAdded({ projection: MIRROR, stream, to: BLOCKS + 1 })))
  await expect.poll(() => queue.getActiveCount()).toBe(CHAINS.length)
  expect(await behind()).toEqual(CHAINS.map(() => expect.toSatisfy((left: number) => left > 0)))

  const able = startWorker({
    pool,
    clickhouse: pipeline.clickhouse,
    projections: pipeline.projections,
    queue: { databaseUrl: url },
    concurrency: 1,
  })
  closing.push(() => able.stop())
  await expect.poll(behind).toEqual(CHAINS.map(() => 0))
  expect(await queue.getActiveCount()).toBeGreaterThanOrEqual(CHAINS.length)
})

test('a job that is to be tried again at a time which the clock was set back from is done at once', async () => {
  const { pool, url } = pipeline.postgres
  const backend = openQueueBackend({ databaseUrl: url })
  const queue = backend.createQueue<Job>(QUEUE)
  const absent = openClickHouse({ url: 'http://127.0.0.1:9', database: 'vaultlog' })
  const options = { pool, projections: pipeline.projections, queue: { databaseUrl: url }, concurrency: 3 }
  closing.push(
    () => backend.close(),
    () => absent.close(),
  )
  await append(BLOCKS + 2)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
  closing.push(() => vi.useRealTimers())
  const failing = startWorker({ ...options, clickhouse: absent })
  await expect.poll(() => queue.getDelayedCount()).toBe(CHAINS.length)
  await failing.stop()
  vi.useRealTimers()

  const able = startWorker({ ...options, clickhouse: pipeline.clickhouse })
  closing.push(() => able.stop())
  await expect.poll(behind, { timeout: 20_000 }).toEqual(CHAINS.map(() => 0))
})
