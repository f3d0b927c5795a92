import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EmbeddedPostgres, startPostgres } from '../../db/embedded/postgres.ts'
import { openQueueBackend } from '../../db/queues.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'
import { findRedis } from '../redis.ts'
import { ownPlace } from './embedded/places.ts'

const redisUrl = await findRedis()

let place: Awaited<ReturnType<typeof ownPlace>>
let postgres: EmbeddedPostgres
beforeAll(async () => {
  place = await ownPlace()
  postgres = await startPostgres(place.env)
})
afterAll(async () => {
  await postgres?.stop()
  place?.remove()
})

describe.each(redisUrl ? (['postgres', 'redis'] as const) : (['postgres'] as const))('queue on %s', kind => {
  it('delivers jobs with their data, retries, and closes cleanly', async () => {
    const backend = openQueueBackend({
      databaseUrl: postgres.url,
      ...(kind === 'redis' ? { REDIS_URL: redisUrl } : {}),
    })
    expect(backend.kind).toBe(kind)
    const name = `test-${randomUUID()}`
    const queue = backend.createQueue<{ stream: number; to: string }>(name)
    const seen: { stream: number; to: string }[] = []
    let failures = 0
    let done = () => {}
    const all = new Promise<void>(resolve => (done = resolve))
    const worker = backend.createWorker<{ stream: number; to: string }>(
      name,
      async job => {
        if (job.name === 'flaky' && failures++ === 0) throw new Error('once')
        seen.push(job.data)
        if (seen.length === 51) done()
      },
      { concurrency: 4 },
    )
    await worker.waitUntilReady()
    for (let to = 0; to < 50; to++) await queue.add('range', { stream: 1, to: String(to) })
    await queue.add('flaky', { stream: 2, to: '7' }, { attempts: 3, backoff: { type: 'fixed', delay: 20 } })
    await all
    expect(
      seen
        .filter(job => job.stream === 1)
        .map(job => Number(job.to))
        .sort((a, b) => a - b),
    ).toEqual(Array.from({ length: 50 }, (_, i) => i))
    expect(seen).toContainEqual({ stream: 2, to: '7' })
    await worker.pause()
    await queue.obliterate({ force: true })
    await backend.close()
    await backend.close()
  })
})

it('has a queue once Postgres is back, where it was away when the process started', async () => {
  const proxy = await startTcpProxy(postgres.url)
  proxy.losesAnswers = true
  const backend = openQueueBackend({ databaseUrl: proxy.url })
  const name = `test-${randomUUID()}`
  const queue = backend.createQueue<{ to: string }>(name)
  let take = (_: string) => {}
  const taken = new Promise<string>(resolve => (take = resolve))
  backend.createWorker<{ to: string }>(name, async job => take(job.data.to), { runRetryDelay: 100 })
  await expect(queue.add('range', { to: '1' })).rejects.toThrow()

  proxy.losesAnswers = false
  await queue.add('range', { to: '2' })
  expect(await taken).toBe('2')
  await backend.close()
  await proxy.stop()
})
