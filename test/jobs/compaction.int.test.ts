import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { registerStream } from '../../db/events/event-store.ts'
import { checkReadModels } from '../../db/read-models.ts'
import { listStreams } from '../../jobs/checkpoints.ts'
import { Compaction, compactStream, dropRetracted, readCompactable } from '../../jobs/compaction.ts'
import { partsOf } from '../../jobs/projection.ts'
import { replay } from '../../jobs/replay.ts'
import { verify } from '../../jobs/verify.ts'
import { readMoment } from '../../read-api/moment/snapshot.ts'
import { noteCompacted, noteRetractions, VISIBLE, withoutRetractions } from '../../read-api/moment/visible.ts'
import { createPipeline, type Pipeline, quiet } from '../pipeline.ts'
import { appendBlocks } from '../read-api/append.ts'
import { RandomChain } from './streams.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const MAINNET = 1
let pipeline: Pipeline
const chain = new RandomChain(31)

async function grow(blocks: number): Promise<void> {
  await appendBlocks(pipeline.postgres.pool, MAINNET, 'mainnet', chain.lengthen(blocks, { forks: true }))
  await pipeline.project()
}

beforeAll(async () => {
  pipeline = await createPipeline()
  await registerStream(pipeline.postgres.pool, MAINNET, 'mainnet', 'evm')
  await grow(50)
})
afterAll(() => pipeline?.drop())

const context = () => ({
  pool: pipeline.postgres.pool,
  clickhouse: pipeline.clickhouse,
  projections: pipeline.projections,
})
const head = async () =>
  (await listStreams(pipeline.postgres.pool)).find(({ id }) => id === MAINNET)?.head ?? 0
const compactedTo = async () => (await readMoment(pipeline.postgres.pool)).compacted.get(MAINNET)

/** Rows that no reader sees, of all tables that are not heads. */
async function rowsTakenBack(upTo = Number.MAX_SAFE_INTEGER): Promise<number> {
  const tables = pipeline.projections
    .filter(({ streams }) => streams === 'evm')
    .flatMap(partsOf)
    .filter(({ into, isHead }) => !into && !isHead)
  let found = 0
  for (const { name } of tables) {
    const [row] = await pipeline.rows<{ n: string }>(
      `SELECT count() AS n FROM ${name} WHERE (chain_id, position) IN (
         SELECT stream, position FROM retracted WHERE retracted_by <= {upTo:UInt64})`,
      { upTo },
    )
    found += Number(row?.n)
  }
  return found
}

async function expectVerified(): Promise<void> {
  const streams = await listStreams(pipeline.postgres.pool)
  const comparisons = await verify({
    ...context(),
    streams,
    progress: quiet,
  })
  expect(comparisons.filter(({ equal }) => !equal)).toEqual([])
  expect(comparisons.length).toBeGreaterThan(30)
}

test('what retractions took back goes out of all tables, and nobody sees a difference', async () => {
  expect(await rowsTakenBack()).toBeGreaterThan(100)
  const sums = await pipeline.visibleSums()
  expect(await compactedTo()).toBe(0)
  const to = await head()
  // As after a kill amid it: some rows are gone, and nothing is noted.
  const flow = pipeline.projections.filter(({ name }) => name === 'flow')
  for (const each of flow) {
    expect(
      await dropRetracted({ pool: pipeline.postgres.pool, house: pipeline.clickhouse }, each, MAINNET, {
        from: 0,
        to: to / 2,
      }),
    ).toBeGreaterThan(0)
  }
  await compactStream(context(), MAINNET, to)
  expect(await rowsTakenBack()).toBe(0)
  expect(await compactedTo()).toBe(to)
  expect(await pipeline.visibleSums()).toEqual(sums)
  expect((await readCompactable(pipeline.postgres.pool)).has(MAINNET)).toBe(false)
})

test('indexing goes on from there, and a replay and a verification come to the same rows', async () => {
  const compacted = await head()
  await grow(20)
  expect(await rowsTakenBack()).toBeGreaterThan(0)
  expect(await rowsTakenBack(compacted)).toBe(0)
  const few = pipeline.projections.filter(({ name }) => ['balance', 'daily_flow', 'flow'].includes(name))
  const streams = await listStreams(pipeline.postgres.pool)
  await replay({
    ...context(),
    projections: few,
    streams,
    progress: quiet,
  })
  expect(await rowsTakenBack(compacted)).toBe(0)
  expect(await compactedTo()).toBe(compacted)
  await expectVerified()
})

test('a turn takes out what all readers had passed at the turn before, and no more', async () => {
  const compaction = new Compaction({ ...context(), readersMs: 0 })
  const { signal } = new AbortController()
  const before = await compactedTo()
  await compaction.turn(signal)
  expect(await compactedTo()).toBe(before)
  const noted = await head()
  await grow(20)
  await compaction.turn(signal)
  expect(await compactedTo()).toBe(noted)
  expect(await rowsTakenBack(noted)).toBe(0)
  expect(await rowsTakenBack()).toBeGreaterThan(0)

  // What is asked where one chain is compacted in part is the same, and less is looked at.
  const { client } = pipeline.clickhouse
  const { pool } = pipeline.postgres
  const as_of = new Map([
    [MAINNET, await head()],
    [10, 5],
  ])
  const question = `SELECT count() AS n, sum(cityHash64(*)) AS sum FROM balance WHERE ${VISIBLE}`
  noteRetractions(client, MAINNET, { from: 0, to: await head(), last: await head() })
  noteCompacted(client, (await readMoment(pool)).compacted)
  const short = withoutRetractions(question, { as_of }, client)
  expect(short).toContain(`map(1, ${noted}, 10, 0)`)
  const ask = async (query: string) =>
    (await client.query({ query, query_params: { as_of }, format: 'JSONEachRow' })).json()
  expect(await ask(short)).toEqual(await ask(question))

  // Its rows are of another version: not this code's to touch.
  const other = pipeline.projections.map(each => ({ ...each, version: each.version + 1 }))
  await compactStream({ ...context(), projections: other }, MAINNET, await head())
  expect(await compactedTo()).toBe(noted)

  // One that is new here has all its rows, and questions look at retractions again until it is compacted as well.
  await pool.query(`UPDATE checkpoint SET compacted = 0 WHERE projection = 'flow'`)
  expect(await compactedTo()).toBe(0)
  // One that has not caught up holds nobody up, and is left alone.
  await pool.query(`UPDATE checkpoint SET has_joined = false, position = 5 WHERE projection = 'flow'`)
  expect(await compactedTo()).toBe(noted)
  await compaction.turn(signal)
  expect(await compactedTo()).toBe(await head())
  const { rows } = await pool.query(
    `SELECT compacted FROM checkpoint WHERE projection = 'flow' AND stream = 1`,
  )
  expect(rows).toEqual([{ compacted: 0 }])
})

test('a table whose every row was taken back is not taken for one that lost its rows', async () => {
  const { pool } = pipeline.postgres
  const { client } = pipeline.clickhouse
  const head = pipeline.projections.find(({ name }) => name === 'aave_revision')
  if (!head) return expect.fail('no projection aave_revision')
  const [retracted] = await pipeline.rows<{ position: string }>(
    'SELECT position FROM retracted WHERE stream = 1 LIMIT 1',
  )
  await pipeline.clickhouse.command('test', 'TRUNCATE TABLE aave_revision')
  await pipeline.clickhouse.command(
    'test',
    `INSERT INTO aave_revision (chain_id, position) VALUES (1, ${retracted?.position})`,
  )
  expect(await checkReadModels({ pool, clickhouse: client })).toBeUndefined()
  await dropRetracted({ pool, house: pipeline.clickhouse }, head, MAINNET, {
    from: 0,
    to: Number.MAX_SAFE_INTEGER,
  })
  await pipeline.clickhouse.command('test', 'OPTIMIZE TABLE aave_revision FINAL')
  await pipeline.clickhouse.command('test', 'TRUNCATE TABLE aave_revision')
  expect(await checkReadModels({ pool, clickhouse: client })).toBeUndefined()
  // Another that is without its rows is still missed.
  await pipeline.clickhouse.command('test', 'TRUNCATE TABLE flow')
  expect((await checkReadModels({ pool, clickhouse: client }))?.reason).toMatch(/lost their rows: flow/)
})
