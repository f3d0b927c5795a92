import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { openQueueBackend } from '../../db/queues.ts'
import { DEAD_LETTER_STAGES } from '../../db/status.ts'
import { type Job, QUEUE } from '../../db/wake-ups.ts'
import { startWorker } from '../../jobs/worker.ts'
import { createPostgres } from '../databases.ts'
import { vaultlog } from '../faults/command.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { appendBlocks } from '../read-api/append.ts'
import { RandomChain } from './streams.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

let pipeline: Pipeline
let env: Record<string, string>
let folder: string

beforeAll(async () => {
  pipeline = await createPipeline()
  folder = await mkdtemp(join(tmpdir(), 'vaultlog-command-'))
  env = {
    DATABASE_URL: pipeline.postgres.url,
    CLICKHOUSE_URL: inject('clickhouseUrl'),
    CLICKHOUSE_DATABASE: pipeline.clickhouse.database,
  }
  const chain = new RandomChain(3).grow(5)
  const blocks = chain.log.map(({ block, event }) => ({ block, events: [event] }))
  await appendBlocks(pipeline.postgres.pool, 1, 'mainnet', blocks)
  await pipeline.project()
})
afterAll(async () => {
  await pipeline?.drop()
  await rm(folder, { recursive: true, force: true })
})

test.each<[string, () => string[], RegExp]>([
  ['a letter that is not open', () => ['deadletters', 'resolve', '99999'], /Not open, or not there: 99999/],
  ['a folder that there is not', () => ['export', 'flow', join(folder, 'no', 'f.parquet')], /ENOENT/],
  [
    'a column that there is not',
    () => ['export', 'flow', join(folder, 'f.parquet'), '--where', 'colour = 1'],
    /ClickHouse answers: .*colour/,
  ],
])('%s is one line, and the command fails', async (_, args, words) => {
  const { code, stderr } = await vaultlog(env, ...args())
  expect(code).toBe(1)
  expect(stderr).toMatch(words)
  expect(stderr.trim().split('\n').length, stderr).toBe(1)
})

test('a stage that there is not is refused with those that there are', async () => {
  const { code, stderr } = await vaultlog(env, 'deadletters', '--stage', 'nonsense')
  expect(code).toBe(1)
  expect(stderr).toContain(`Allowed choices are ${DEAD_LETTER_STAGES.join(', ')}.`)
})

test('stages of dead letters are those of the table', async () => {
  const { rows } = await pipeline.postgres.pool.query<{ allowed: string }>(
    `SELECT pg_get_constraintdef(oid) AS allowed FROM pg_constraint WHERE conname = 'dead_letter_stage_check'`,
  )
  const allowed = [...(rows.at(-1)?.allowed ?? '').matchAll(/'(\w+)'/g)].map(([, stage]) => stage)
  expect(allowed.sort()).toEqual([...DEAD_LETTER_STAGES].sort())
})

test('a user of Postgres without the right to make tables is told what to do', async () => {
  const postgres = await createPostgres()
  try {
    await postgres.pool.query(
      'DROP SCHEMA public CASCADE; CREATE SCHEMA public; REVOKE CREATE ON SCHEMA public FROM CURRENT_USER',
    )
    const { code, stderr } = await vaultlog({ ...env, DATABASE_URL: postgres.url }, 'status')
    expect(code).toBe(1)
    expect(stderr).toContain('Give it CREATE on the database and on its schema public')
    expect(stderr).not.toContain('    at ')
  } finally {
    await postgres.drop()
  }
})

test('status names a projection whose rows are of another version', async () => {
  const { pool } = pipeline.postgres
  await pool.query(`UPDATE checkpoint SET version = version + 1 WHERE projection = 'flow'`)
  try {
    expect((await vaultlog(env, 'status')).stdout).toContain('vaultlog replay --projection flow')
  } finally {
    await pool.query(`UPDATE checkpoint SET version = version - 1 WHERE projection = 'flow'`)
  }
  expect((await vaultlog(env, 'status')).stdout).not.toContain('replay')
})

test('a failed job leaves the queue when its work is done', async () => {
  const { pool } = pipeline.postgres
  const backend = openQueueBackend({ databaseUrl: pipeline.postgres.url })
  const queue = backend.createQueue<Job>(QUEUE)
  const fails = backend.createWorker<Job, void>(
    QUEUE,
    async () => {
      throw new TypeError('on purpose')
    },
    { concurrency: 1 },
  )
  await queue.addBulk(
    [1, 999_999].map(to => ({
      name: 'flow',
      data: { projection: 'flow', stream: 1, to },
      opts: { jobId: `fails.${to}`, attempts: 1 },
    })),
  )
  await expect.poll(() => queue.getFailedCount()).toBe(2)
  await fails.close()
  const worker = startWorker({
    pool,
    clickhouse: pipeline.clickhouse,
    projections: pipeline.projections,
    queue: { databaseUrl: pipeline.postgres.url },
    concurrency: 1,
  })
  try {
    await expect.poll(() => queue.getFailedCount()).toBe(1)
    expect((await queue.getFailed()).map(({ data }) => data.to)).toEqual([999_999])
  } finally {
    await worker.stop()
    await backend.close()
  }
})
