import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { registerStream } from '../../db/events/event-store.ts'
import { openPostgres } from '../../db/postgres.ts'
import { recordFacts } from '../../db/registry/registry.ts'
import { listStreams } from '../../jobs/checkpoints.ts'
import { mirrorStream } from '../../jobs/mirror.ts'
import type { ProgressBoard } from '../../jobs/progress.ts'
import type { Projection } from '../../jobs/projection.ts'
import { ReplayInterrupted, type ReplayOptions, replay } from '../../jobs/replay.ts'
import { NeedsReplayError, runProjection } from '../../jobs/runner.ts'
import { verify } from '../../jobs/verify.ts'
import { readMoment } from '../../read-api/moment/snapshot.ts'
import { start, vaultlog } from '../faults/command.ts'
import { createPipeline, EACH_KIND, type Pipeline, quiet } from '../pipeline.ts'
import { appendBlocks } from '../read-api/append.ts'
import { RandomChain } from './streams.ts'

// A replay is some hundred statements, which a busy machine makes slow.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const MAINNET = 1
const BASE = 8453

let pipeline: Pipeline
let chains: Record<number, RandomChain>

/** A fork ends a batch, so few of them keep a test short. */
const lengthen = (stream: number, blocks: number, forks = false) =>
  chains[stream]?.lengthen(blocks, { forks }) ?? []

async function grow(...[stream, name, blocks, forks]: [number, string, number, boolean?]): Promise<void> {
  await appendBlocks(pipeline.postgres.pool, stream, name, lengthen(stream, blocks, forks))
}

/** Two chains with forks. */
const HISTORY: Parameters<typeof grow>[] = [
  [MAINNET, 'mainnet', 40],
  [MAINNET, 'mainnet', 24, true],
  [MAINNET, 'mainnet', 20],
  [BASE, 'base', 30],
  [BASE, 'base', 8, true],
]

/** The two chains and a registry, projected: by all projections, and by a few, for what is the same with any. */
const filled: Record<'all' | 'few', Pipeline | undefined> = { all: undefined, few: undefined }

async function open(which: keyof typeof filled): Promise<void> {
  const only = which === 'few' ? EACH_KIND : undefined
  chains = { [MAINNET]: new RandomChain(11), [BASE]: new RandomChain(12) }
  const like = filled[which]
  if (like) {
    for (const [stream, , blocks, forks] of HISTORY) lengthen(stream, blocks, forks)
  } else {
    pipeline = await createPipeline({ only })
    const { pool } = pipeline.postgres
    await registerStream(pool, MAINNET, 'mainnet', 'evm')
    await registerStream(pool, BASE, 'base', 'evm')
    await recordFacts(pool, [{ subject: 'vault:x', kind: 'tag', value: { tag: 'a' } }], 1000)
    for (const step of HISTORY) await grow(...step)
    await pipeline.project()
    // Nobody may be connected to what is copied.
    await pool.end()
    filled[which] = pipeline
  }
  pipeline = await createPipeline({ only, like: filled[which] })
}

afterAll(async () => {
  for (const each of Object.values(filled)) await each?.drop()
})

async function options(more: Partial<ReplayOptions> = {}): Promise<ReplayOptions> {
  const { pool } = pipeline.postgres
  return {
    pool,
    clickhouse: pipeline.clickhouse,
    projections: pipeline.projections,
    streams: await listStreams(pool),
    progress: quiet,
    ...more,
  }
}

const only = (name: string): Projection[] => pipeline.projections.filter(p => p.name === name)

async function expectVerified(): Promise<void> {
  const comparisons = await verify(await options())
  expect(comparisons.filter(({ equal }) => !equal)).toEqual([])
  // Each on both chains but the registry's, and the copy of the events.
  expect(comparisons.length).toBeGreaterThan(
    2 * pipeline.projections.filter(({ streams }) => streams === 'evm').length,
  )
}

/** Every live table's identity: another one after it was exchanged. */
async function tables(): Promise<Record<string, string>> {
  const rows = await pipeline.rows<{ name: string; uuid: string }>(
    `SELECT name, toString(uuid) AS uuid FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
  )
  return Object.fromEntries(rows.map(({ name, uuid }) => [name, uuid]))
}

/** A row nobody made, on a chain at a position. */
async function tamper(chain: number, position: number): Promise<void> {
  await pipeline.clickhouse.command(
    'test',
    `INSERT INTO flow SELECT * REPLACE ({position:UInt64} AS position, '0xbad' AS account)
     FROM flow WHERE chain_id = {chain:UInt32} LIMIT 1`,
    { chain, position },
  )
}
async function tampered(): Promise<[number, number][]> {
  const rows = await pipeline.rows<{ chain_id: number; position: string }>(
    `SELECT chain_id, position FROM flow WHERE account = '0xbad' ORDER BY chain_id, position`,
  )
  return rows.map(({ chain_id, position }) => [chain_id, Number(position)])
}

async function shadows(): Promise<{ databases: number; rows: number }> {
  const [found] = await pipeline.rows<{ count: string }>(
    `SELECT count() AS count FROM system.databases WHERE name LIKE concat(currentDatabase(), '\\\\_%') AND name != concat(currentDatabase(), '_internal')`,
  )
  const { rowCount } = await pipeline.postgres.pool.query('SELECT FROM replay')
  return { databases: Number(found?.count), rows: rowCount ?? 0 }
}

describe('replay of all projections', () => {
  beforeEach(() => open('all'))
  afterEach(() => pipeline.drop())

  test('of everything, while the live tables serve and more events arrive', async () => {
    const before = await tables()
    let arriving = true
    let fewest = Number.POSITIVE_INFINITY
    let most = 0
    const reading = (async () => {
      while (arriving) {
        const [row] = await pipeline.rows<{ n: string }>('SELECT count() AS n FROM flow FINAL')
        // Rows are only added: a reader who sees fewer than before has seen a table half made.
        expect(Number(row?.n)).toBeGreaterThanOrEqual(most)
        most = Math.max(most, Number(row?.n))
        fewest = Math.min(fewest, Number(row?.n))
      }
    })()
    const growing = (async () => {
      for (let i = 0; i < 3; i++) {
        await grow(MAINNET, 'mainnet', 8)
        await grow(BASE, 'base', 4)
        await pipeline.project()
      }
    })()
    await replay(await options({ batch: 400 }))
    await growing
    arriving = false
    await reading
    expect(fewest).toBeGreaterThan(0)
    await pipeline.project()
    const after = await tables()
    for (const { name } of pipeline.projections) expect(after[name], name).not.toBe(before[name])
    expect(after.event).toBe(before.event)
    await expectVerified()
    expect(await shadows()).toEqual({ databases: 0, rows: 0 })
  })

  test('from a block: what follows from earlier blocks is taken over', async () => {
    const block = chains[MAINNET]?.log[Math.floor((chains[MAINNET]?.log.length ?? 0) / 2)]?.block.number ?? 0
    const first = chains[MAINNET]?.log.findIndex(entry => entry.block.number >= block) ?? 0
    expect(first).toBeGreaterThan(10)
    await tamper(MAINNET, first - 2)
    await tamper(MAINNET, first + 2)
    const streams = (await listStreams(pipeline.postgres.pool)).filter(({ id }) => id === MAINNET)
    await replay(await options({ streams, projections: only('flow'), fromBlock: block, batch: 100 }))
    expect(await tampered()).toEqual([[MAINNET, first - 2]])
    // Another beginning than the one before: starts clean, in tables that exist already.
    await replay(await options({ streams, projections: only('flow') }))
    expect(await tampered()).toEqual([])
    const comparisons = await verify(await options({ projections: only('flow') }))
    expect(comparisons.filter(({ equal }) => !equal)).toEqual([])
    // Of all that has tables beside its own, too.
    await replay(await options({ streams, fromBlock: block, batch: 200 }))
    await expectVerified()
  })
})

describe('replay, and what else an operator runs', () => {
  beforeEach(() => open('few'))
  afterEach(() => pipeline.drop())

  test('of one projection: the others are not touched', async () => {
    const before = await tables()
    const sums = await pipeline.visibleSums()
    await replay(await options({ projections: only('balance'), batch: 200 }))
    const after = await tables()
    const changed = Object.keys(before).filter(name => before[name] !== after[name])
    expect(changed.sort()).toEqual(['account_vault', 'balance', 'holder', 'position_change'])
    expect(await pipeline.visibleSums()).toEqual(sums)
    await grow(MAINNET, 'mainnet', 20)
    await pipeline.project()
    await expectVerified()
  })

  test('of more chains than there are connections', async () => {
    await registerStream(pipeline.postgres.pool, 10, 'optimism', 'evm')
    await registerStream(pipeline.postgres.pool, 137, 'polygon', 'evm')
    const pool = openPostgres(pipeline.postgres.url, 'few', 3)
    await replay(await options({ pool, projections: only('flow') }))
    await pool.end()
    await expectVerified()
  })

  test('of one chain: the rows of the other stay as they are', async () => {
    await tamper(MAINNET, 5)
    await tamper(BASE, 5)
    const streams = (await listStreams(pipeline.postgres.pool)).filter(({ id }) => id === MAINNET)
    const before = await tables()
    await replay(await options({ streams, projections: only('flow') }))
    expect(await tampered()).toEqual([[BASE, 5]])
    expect(await tables()).toEqual(before)
    await grow(MAINNET, 'mainnet', 20)
    await pipeline.project()
    await replay(await options({ projections: only('flow') }))
    await expectVerified()
  })

  test('from a block that is mirrored and not projected yet', async () => {
    const block = (chains[MAINNET]?.log.at(-1)?.block.number ?? 0) + 1
    await grow(MAINNET, 'mainnet', 10)
    const { pool } = pipeline.postgres
    await mirrorStream(pool, pipeline.clickhouse.client, MAINNET)
    await replay(await options({ fromBlock: block + 5 }))
    await pipeline.project()
    await expectVerified()
  })

  test('is noticed by who remembers rows, and done by one process at a time', async () => {
    const { pool } = pipeline.postgres
    const { replays } = await readMoment(pool)
    const both = await Promise.allSettled([replay(await options()), replay(await options())])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'REPLAY_RUNNING' },
    })
    expect((await readMoment(pool)).replays).toBeGreaterThan(replays)
    await expectVerified()
  })

  test('interrupted it leaves the live tables alone, and goes on where it stopped', async () => {
    const stop = new AbortController()
    const updates: [string, number][] = []
    const board: ProgressBoard = {
      start: title => ({
        update(done) {
          updates.push([title, done])
          if (updates.length === 7) stop.abort()
        },
        finish() {},
      }),
      close() {},
    }
    const before = await tables()
    const sums = await pipeline.visibleSums()
    const interrupted = replay(await options({ batch: 120, progress: board, signal: stop.signal }))
    await expect(interrupted).rejects.toThrow(ReplayInterrupted)
    expect(await tables()).toEqual(before)
    expect(await pipeline.visibleSums()).toEqual(sums)
    const [title, reached] = updates.at(-1) ?? ['', 0]

    await grow(MAINNET, 'mainnet', 10)
    await pipeline.project()
    const seen: [string, number][] = []
    const again: ProgressBoard = {
      start: name => ({ update: done => void seen.push([name, done]), finish() {} }),
      close() {},
    }
    await replay(await options({ batch: 120, progress: again }))
    // What was done is not done again.
    expect(seen.find(([name]) => name === title)?.[1] ?? Number.POSITIVE_INFINITY).toBeGreaterThan(reached)
    await expectVerified()
    expect(await shadows()).toEqual({ databases: 0, rows: 0 })
  })

  test('broken off between two exchanges it is done anew, never swapped back', async () => {
    const [balance] = only('balance')
    if (!balance) return expect.fail('no projection balance')
    const newer = { ...balance, version: balance.version + 1 }
    const { clickhouse } = pipeline
    const breaking = {
      ...clickhouse,
      command: async (name: string, sql: string, parameters?: Record<string, unknown>) => {
        if (/^EXCHANGE .*holder/.test(sql)) throw new TypeError('the machine went down')
        return clickhouse.command(name, sql, parameters)
      },
    }
    await expect(
      replay(await options({ clickhouse: breaking, projections: [newer], batch: 80 })),
    ).rejects.toThrow('went down')
    // The rows are new in one table and old in the other: nobody may add to them.
    await expect(runProjection(pipeline.postgres.pool, clickhouse.client, newer, MAINNET)).rejects.toThrow(
      NeedsReplayError,
    )
    await replay(await options({ projections: [newer], batch: 80 }))
    const comparisons = await verify(await options({ projections: [newer] }))
    expect(comparisons.filter(({ equal }) => !equal)).toEqual([])
  })

  test('a shadow that somebody dropped is not swapped in empty', async () => {
    const stop = new AbortController()
    const board: ProgressBoard = {
      start: () => ({ update: () => stop.abort(), finish() {} }),
      close() {},
    }
    await expect(replay(await options({ progress: board, signal: stop.signal, batch: 99 }))).rejects.toThrow()
    await pipeline.clickhouse.command('test', `DROP DATABASE ${pipeline.clickhouse.database}_replay SYNC`)
    await replay(await options())
    await expectVerified()
  })

  test('a projection of a newer version needs a replay, and serves its old rows until then', async () => {
    const [flow] = only('flow')
    if (!flow) return expect.fail('no projection flow')
    const newer = { ...flow, version: flow.version + 1 }
    const { pool } = pipeline.postgres
    const { client } = pipeline.clickhouse
    const count = async () =>
      (await pipeline.rows<{ n: string }>('SELECT count() AS n FROM flow FINAL'))[0]?.n
    const rows = await count()
    await grow(MAINNET, 'mainnet', 30)
    for (const projection of pipeline.projections.filter(({ name }) => name !== 'flow'))
      await runProjection(pool, client, projection, MAINNET)
    await expect(runProjection(pool, client, newer, MAINNET)).rejects.toThrow(/replay --projection flow/)
    expect(await count()).toBe(rows)
    await pipeline.project()
    await grow(MAINNET, 'mainnet', 10)
    await mirrorStream(pool, client, MAINNET)
    const fromBlock = (chains[MAINNET]?.log.at(-1)?.block.number ?? 0) - 5
    await replay(await options({ projections: [newer], fromBlock }))
    await grow(MAINNET, 'mainnet', 10)
    await pipeline.project().catch(() => {})
    await runProjection(pool, client, newer, MAINNET)
    expect(Number(await count())).toBeGreaterThan(Number(rows))
    await expect(runProjection(pool, client, flow, MAINNET)).rejects.toThrow(NeedsReplayError)
    const comparisons = await verify(await options({ projections: [newer] }))
    expect(comparisons.filter(({ equal }) => !equal)).toEqual([])
  })

  test('status, dead letters, rewind and keys', async () => {
    const { pool } = pipeline.postgres
    await grow(MAINNET, 'mainnet', 5)
    await pool.query(
      `INSERT INTO dead_letter (stage, stream, block_number, log_index, contract, reason, payload)
       VALUES ('decode', 1, 123, 4, '0xabc', 'malformed: too short', '{}')`,
    )
    const status = await vaultlog(pipeline.env(), 'status')
    expect(status.code).toBe(0)
    expect(status.stdout).toMatch(/mainnet/)
    expect(status.stdout).toMatch(/base/)
    const json = JSON.parse((await vaultlog(pipeline.env(), 'status', '--json')).stdout) as {
      name: string
      deadLetters: number
      projections: { behind: number }[]
    }[]
    const mainnet = json.find(({ name }) => name === 'mainnet')
    expect(mainnet?.deadLetters).toBe(1)
    expect(mainnet?.projections.every(({ behind }) => behind > 0)).toBe(true)

    const letters = await vaultlog(pipeline.env(), 'deadletters', '--stage', 'decode')
    expect(letters.stdout).toContain('malformed: too short')
    expect((await vaultlog(pipeline.env(), 'deadletters', '--chain', 'base')).stdout).toContain(
      'No dead letters.',
    )
    const id =
      /(\d+)/.exec(letters.stdout.split('\n').find(line => line.includes('malformed')) ?? '')?.[1] ?? ''
    expect((await vaultlog(pipeline.env(), 'deadletters', 'resolve', id)).stdout).toContain('1 resolved.')
    expect((await vaultlog(pipeline.env(), 'deadletters')).stdout).toContain('No dead letters.')
    expect((await vaultlog(pipeline.env(), 'deadletters', '--all')).stdout).toContain('malformed: too short')

    const rewound = await vaultlog(pipeline.env(), 'rewind', 'mainnet', '--to', '130')
    expect(rewound.stdout).toMatch(/\d+ blocks retracted; start the processor of mainnet again\./)
    await pipeline.project()
    const [left] = await pipeline.rows<{ highest: string }>(
      `SELECT max(block_number) AS highest FROM flow
       WHERE chain_id = 1 AND (chain_id, position) NOT IN (SELECT stream, position FROM retracted)`,
    )
    expect(Number(left?.highest)).toBeLessThanOrEqual(130)
    await expectVerified()

    const created = await vaultlog(pipeline.env(), 'keys', 'create', 'somebody')
    expect(created.stdout).toMatch(/It is a key of the database \w+ on port \d+\./)
    const code = /public code: ([a-z0-9_]+)/.exec(created.stdout)?.[1] ?? ''
    expect((await vaultlog(pipeline.env(), 'keys', 'list')).stdout).toContain('somebody')
    expect((await vaultlog(pipeline.env(), 'keys', 'revoke', code)).stdout).toContain('is revoked')
  })
})

describe('as an operator runs it', () => {
  beforeEach(() => open('all'))
  afterEach(() => pipeline.drop())

  test('replay says how far it is, survives SIGKILL, and verify proves the result', async () => {
    const killed = start(['jobs/cli.ts', 'replay', '--batch', '99'], { ...pipeline.env(), LOG_LEVEL: 'warn' })
    await killed.until(/daily_flow base: \d+\/\d+ events/)
    killed.child.kill('SIGKILL')
    expect((await killed.ended).signal).toBe('SIGKILL')
    const again = await vaultlog(pipeline.env(), 'replay')
    expect(again.stderr).toMatch(/\d+\/\d+ events \(\d+%\), \d+\/s/)
    expect(again.stdout).toMatch(
      /Replayed \d+ projections on 3 streams in [\d.]+ s; the new tables are live\./,
    )
    expect(again.code).toBe(0)
    const proof = await vaultlog(pipeline.env(), 'verify')
    expect(proof.stdout).toMatch(/All \d+ equal\./)
    expect(proof.stdout).not.toContain('DIFFERENT')
    expect(proof.code).toBe(0)
    console.info(proof.stdout)
  })

  test('SIGTERM ends a replay with words, not with a stack', async () => {
    const run = start(['jobs/cli.ts', 'replay', '--batch', '5'], { ...pipeline.env(), LOG_LEVEL: 'warn' })
    await run.until(/events \(/)
    run.child.kill('SIGTERM')
    const { code, stderr } = await run.ended
    expect(code).toBe(1)
    expect(stderr).toContain('The live tables are untouched; the same command goes on where it stopped.')
    expect(stderr).not.toContain('    at ')
  })

  test('verify says DIFFERENT and fails when a row was tampered with, in a read model or in the staging layer', async () => {
    await tamper(MAINNET, 3)
    const table = await vaultlog(pipeline.env(), 'verify', '--projection', 'flow', '--chain', 'mainnet')
    expect(table.stdout).toMatch(/flow +│? *mainnet.*DIFFERENT/)
    expect(table.stdout).toMatch(/1 of 3 differ\./)
    expect(table.code).toBe(1)
    const other = await vaultlog(pipeline.env(), 'verify', '--projection', 'drawdown')
    expect(other.stdout + other.stderr).toMatch(/All \d+ equal\./)
    expect(other.code).toBe(0)
    await vaultlog(pipeline.env(), 'replay', '--projection', 'flow')

    await pipeline.clickhouse.command(
      'test',
      `INSERT INTO event SELECT * REPLACE (concat(substring(data, 1, length(data) - 1), ' }') AS data) FROM event WHERE stream = 8453 AND position = 7`,
    )
    await pipeline.clickhouse.command('test', 'INSERT INTO retracted VALUES (1, 7, 7)')
    const staging = await vaultlog(pipeline.env(), 'verify', '--projection', 'flow')
    expect(staging.stdout).toMatch(/event +│? *base.*DIFFERENT/)
    expect(staging.stdout).toMatch(/retracted +│? *mainnet.*DIFFERENT/)
    expect(staging.code).toBe(1)
  })
})
