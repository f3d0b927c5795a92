import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { appendEvents, lockStreamHead, registerStream } from '../../db/events/event-store.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { inTransaction } from '../../db/postgres.ts'
import { Turns } from '../../db/process/turns.ts'
import { MIRROR } from '../../db/wake-ups.ts'
import { listStreams, readCheckpoint, withLock } from '../../jobs/checkpoints.ts'
import { mirrorStream } from '../../jobs/mirror.ts'
import { runProjection } from '../../jobs/runner.ts'
import { verify } from '../../jobs/verify.ts'
import { work } from '../../jobs/work.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { RandomChain } from './streams.ts'

vi.setConfig({ testTimeout: 130_000, hookTimeout: 130_000 })

const STREAM = 1
const OTHER = 10
let pipeline: Pipeline
let price: DomainEvent
let height = 1_000_000
beforeAll(async () => {
  pipeline = await createPipeline()
  const { log } = new RandomChain(11).grow(12)
  const found = log.find(({ event }) => event.type === 'PriceReported')
  if (!found) throw new TypeError('a chain without prices')
  price = found.event
  await registerStream(pipeline.postgres.pool, STREAM, 'mainnet', 'evm')
  for (const { event } of log) await append([event])
  await pipeline.project()
})
afterAll(() => pipeline?.drop())

/** One block; gives the stream's head. */
function append(events: DomainEvent[], stream = STREAM): Promise<number> {
  height++
  const block = {
    number: height,
    hash: `0x${height.toString(16).padStart(64, '0')}`,
    timestamp: 1_700_000_000 + height,
  }
  return inTransaction(pipeline.postgres.pool, async tx => {
    const head = await appendEvents(tx, stream, await lockStreamHead(tx, stream), [{ block, events }])
    await tx.query('UPDATE stream SET head = $2, head_height = $3, head_time = $4 WHERE id = $1', [
      stream,
      head,
      block.number,
      block.timestamp,
    ])
    return head
  })
}

async function mirror(to: number): Promise<string[]> {
  const { postgres, clickhouse, projections } = pipeline
  const context = { pool: postgres.pool, clickhouse: clickhouse.client, projections }
  const jobs = await work(context, { projection: MIRROR, stream: STREAM, to })
  return jobs.map(({ projection }) => projection).sort()
}

async function standAt(position: number, stream = STREAM): Promise<string[]> {
  const { rows } = await pipeline.postgres.pool.query<{ projection: string }>(
    'SELECT projection FROM checkpoint WHERE stream = $1 AND position = $2 AND block_number = $3 AND projection <> $4 ORDER BY 1',
    [stream, position, height, MIRROR],
  )
  return rows.map(({ projection }) => projection)
}

const names = () =>
  pipeline.projections
    .filter(({ streams }) => streams === 'evm')
    .map(({ name }) => name)
    .sort()

test('a block gives work to the projections it concerns, and is passed over by the others', async () => {
  const head = await append([price])
  expect(await mirror(head)).toEqual(['feed_price'])
  expect(await standAt(head)).toEqual(names().filter(name => name !== 'feed_price'))
  await pipeline.project()
  expect(await standAt(head)).toEqual(names())
  const { rows } = await pipeline.postgres.pool.query<{ projection: string }>(
    'SELECT projection FROM checkpoint WHERE stream = $1 AND changed_to = $2 AND projection <> $3',
    [STREAM, head, MIRROR],
  )
  expect(rows).toEqual([{ projection: 'feed_price' }])
})

test('one that is at work, behind, in the middle of a batch or of another version is left to its own job', async () => {
  const { pool } = pipeline.postgres
  const before = (await readCheckpoint(pool, 'flow', STREAM)).position
  for (const [projection, change] of [
    ['drawdown', 'position = position - 1'],
    ['asset', 'applying_to = position + 1'],
    ['vault', 'version = version + 1'],
  ])
    await pool.query(`UPDATE checkpoint SET ${change} WHERE stream = $1 AND projection = $2`, [
      STREAM,
      projection,
    ])
  const head = await append([price])
  const jobs = await withLock(pool, 'flow', STREAM, () => mirror(head))
  expect(jobs).toEqual(['asset', 'drawdown', 'feed_price', 'flow', 'vault'])
  expect((await readCheckpoint(pool, 'flow', STREAM)).position).toBe(before)
  expect(await standAt(head)).toEqual(names().filter(name => !jobs?.includes(name)))
})

test('a job whose turn is over leaves the rest to one of its own, whole batches done', async () => {
  const { postgres, clickhouse, projections } = pipeline
  const context = { pool: postgres.pool, clickhouse: clickhouse.client, projections }
  const head = await append([price])
  const toMirror = { projection: MIRROR, stream: STREAM, to: head }
  expect(await work({ ...context, turnMs: 0 }, toMirror)).toContainEqual(toMirror)
  expect((await readCheckpoint(postgres.pool, MIRROR, STREAM)).position).toBeLessThan(head)
  // One that is to stop leaves the rest to whoever comes after it.
  expect(await work({ ...context, turnMs: 0, signal: AbortSignal.abort() }, toMirror)).not.toContainEqual(
    toMirror,
  )
  expect(await work(context, toMirror)).not.toContainEqual(toMirror)
  const toProject = { projection: 'feed_price', stream: STREAM, to: head }
  expect(await work({ ...context, turnMs: 0 }, toProject)).toEqual([toProject])
  expect(await work(context, toProject)).toEqual([])

  const feedPrice = projections.find(({ name }) => name === 'feed_price')
  if (!feedPrice) throw new TypeError('no projection feed_price')
  const more = [await append([price]), await append([price]), await append([price])]
  await mirrorStream(postgres.pool, clickhouse.client, STREAM)
  let batches = 0
  const turn = { isOver: () => batches >= 2 }
  const options = { limits: { batch: 1 }, onBatch: () => batches++, turn }
  const run = () => runProjection(postgres.pool, clickhouse.client, feedPrice, STREAM, options)
  expect(await run()).toBe(more[1])
  batches = 0
  expect(await run()).toBe(more[2])
})

test('blocks are brought in together by the job that mirrors them, forks and what one projection missed among them', async () => {
  const { postgres, clickhouse, projections } = pipeline
  const context = {
    pool: postgres.pool,
    clickhouse: clickhouse.client,
    projections,
    together: new Turns(3),
  }
  await registerStream(postgres.pool, OTHER, 'optimism', 'evm')
  const { log } = new RandomChain(70).grow(12)
  expect(log.some(({ event }) => event.type === 'BlockRetracted')).toBe(true)
  const blocks: DomainEvent[][] = []
  for (const [i, { block, event }] of log.entries()) {
    if (log[i - 1]?.block.hash !== block.hash) blocks.push([])
    blocks.at(-1)?.push(event)
  }
  let alone = 0
  for (const [n, events] of blocks.entries()) {
    const head = await append(events, OTHER)
    const toMirror = { projection: MIRROR, stream: OTHER, to: head }
    // Now and then somebody else is at one of them: that one is behind from then on, until its own job.
    const isHeld = n % 7 === 3
    const toMirrorOf = () => work(context, toMirror)
    const jobs = isHeld ? await withLock(postgres.pool, 'balance', OTHER, toMirrorOf) : await toMirrorOf()
    if (jobs?.length === 0) {
      alone++
      expect(await standAt(head, OTHER)).toEqual(names())
    }
    for (const job of jobs ?? []) expect(await work(context, job)).toEqual([])
  }
  expect(alone).toBeGreaterThan(blocks.length / 2)
  expect(await work(context, { projection: MIRROR, stream: OTHER, to: 1 })).toEqual([])
  const streams = (await listStreams(postgres.pool)).filter(({ id }) => id === OTHER)
  const progress = { start: () => ({ update() {}, finish() {} }), close() {} }
  const compared = await verify({ ...context, clickhouse, streams, progress })
  expect(compared.length).toBeGreaterThan(names().length)
  expect(compared.filter(({ equal }) => !equal)).toEqual([])
})
