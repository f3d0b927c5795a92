import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, revokeKey } from '../../../db/keys/keys.ts'
import { openQueueBackend, type QueueBackend } from '../../../db/queues.ts'
import { QUEUE } from '../../../db/wake-ups.ts'
import { createStreamHistory, type StreamHistory } from '../../../read-api/ops/history.ts'
import { createOps } from '../../../read-api/ops/router.ts'
import type { OpsStatus } from '../../../read-api/ops/status.ts'
import type { ApiHarness } from '../harness.ts'
import { startApi } from '../harness.ts'
import * as w from '../world.ts'
import type { Replica } from './replicas.ts'
import { startReplica } from './replicas.ts'

let api: ApiHarness
let replica: Replica
let backend: QueueBackend
let queue: ReturnType<QueueBackend['createQueue']>
let history: StreamHistory
let admin: string

beforeAll(async () => {
  api = await startApi()
  backend = openQueueBackend({ databaseUrl: api.databaseUrl })
  queue = backend.createQueue(QUEUE)
  await queue.addBulk(
    ['a', 'b', 'c'].map(name => ({ name, data: { name }, opts: { delay: name === 'c' ? 3_600_000 : 0 } })),
  )
  admin = (await createKey(api.pool, { name: 'operator', plan: 'unlimited', admin: true })).key
  await w.seed(api, w.makeWorld())
  history = createStreamHistory(api.pool)
  const { verifyKey } = api.deps
  replica = await startReplica(api, { ops: createOps({ pool: api.pool, queue, history, verifyKey, heads }) })
})
afterAll(async () => {
  await replica?.stop()
  await backend?.close()
  await api?.stop()
})

/** What nodes say of the chains' newest blocks. */
async function heads() {
  return new Map([['mainnet', 987_654_321]])
}

const basic = (key: string, user = 'operator') => ({
  authorization: `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`,
})
const get = (path: string, headers: Record<string, string> = { 'x-api-key': admin }, method = 'GET') =>
  fetch(`${replica.url}${path}`, { headers, method, redirect: 'manual' })

const PAGES = [
  '/ops/',
  '/ops/page.js',
  '/ops/status.json',
  '/ops/queues',
  '/ops/queues/api/queues',
  '/ops/queues/static/favicon-32x32.png',
]

describe("the operator's pages", () => {
  it.each(PAGES)('%s wants an admin key, and says so', async path => {
    const messageOf = async (headers: Record<string, string>, status: number, isChallenge: boolean) => {
      const answer = await get(path, headers)
      expect([answer.status, answer.headers.get('www-authenticate') !== null]).toEqual([status, isChallenge])
      return ((await answer.json()) as { message: string }).message
    }
    expect(await messageOf({}, 401, true)).toMatch(/wants an admin key/)
    expect(await messageOf({ 'x-api-key': 'vl_wrong' }, 401, true)).toMatch(/not known or has been revoked/)
    expect(await messageOf(basic('vl_wrong'), 401, true)).toMatch(/not known/)
    expect(await messageOf({ authorization: 'Basic !' }, 401, true)).toMatch(/wants an admin key/)
    expect(await messageOf({ authorization: `Bearer ${admin}` }, 401, true)).toMatch(/wants an admin key/)
    expect(await messageOf({ 'x-api-key': api.apiKey }, 403, false)).toMatch(/is not an admin key.*--admin/)
    // A browser that got 403 would never ask for another key.
    expect(await messageOf(basic(api.apiKey), 401, true)).toMatch(/is not an admin key/)
    for (const headers of [{ 'x-api-key': admin }, basic(admin), basic(admin, '')])
      expect((await get(path, headers)).status).toBe(200)
  })

  it('a revoked key opens nothing', async () => {
    const { key, code } = await createKey(api.pool, { name: 'gone', admin: true })
    await revokeKey(api.pool, code)
    expect((await get('/ops/queues', { 'x-api-key': key })).status).toBe(401)
  })

  it('only read: a site that makes a browser post with its key changes nothing', async () => {
    const before = await queue.getJobCounts()
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      for (const path of [`/ops/queues/api/queues/${QUEUE}/add`, `/ops/queues/api/queues/${QUEUE}/pause`]) {
        const answer = await get(path, basic(admin), method)
        expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
      }
    }
    expect(await queue.getJobCounts()).toEqual(before)
    expect(await queue.isPaused()).toBe(false)
  })

  it('the board shows the queue, and loads nothing from elsewhere', async () => {
    const page = await get('/ops/queues')
    expect(page.headers.get('x-powered-by')).toBeNull()
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('content-security-policy')).not.toMatch(/https?:/)
    const html = await page.text()
    const scripts = [...html.matchAll(/<script[^>]* src="([^"]+)"/g)].map(([, source]) => source)
    expect(scripts.length).toBeGreaterThan(0)
    for (const source of scripts) {
      const answer = await get(new URL(source ?? '', `${replica.url}/ops/queues/`).pathname)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        expect.stringContaining('javascript'),
      ])
    }
    const shown = (await (await get('/ops/queues/api/queues')).json()) as {
      queues: { name: string; readOnlyMode: boolean; counts: Record<string, number> }[]
    }
    expect(shown.queues.map(({ name, readOnlyMode }) => [name, readOnlyMode])).toEqual([[QUEUE, true]])
    expect(shown.queues[0]?.counts).toMatchObject({ waiting: 2, delayed: 1 })
  })

  it('are no part of the API documents, and are not there unless asked for', async () => {
    for (const tier of ['v2', 'beta', 'alpha'])
      expect(await (await get(`/${tier}/documentation/json`)).text()).not.toContain('/ops')
    const without = await startReplica(api)
    expect((await fetch(`${without.url}/ops/queues`, { headers: { 'x-api-key': admin } })).status).toBe(404)
    await without.stop()
  })
})

/** As it comes over the wire: dates are text. */
type Wire<T> = T extends Date ? string : T extends object ? { [K in keyof T]: Wire<T[K]> } : T
const status = async () => (await (await get('/ops/status.json')).json()) as Wire<OpsStatus>

describe('status.json', () => {
  it("says the chain's own head beside ours, and who follows it", async () => {
    const of = async () => (await status()).streams.find(({ name }) => name === 'mainnet')
    expect(await of()).toMatchObject({ chainHead: 987_654_321, state: 'no processor', isFollowed: false })
    const writer = await api.pool.connect()
    try {
      await writer.query("SELECT pg_advisory_lock(hashtext('vaultlog writer'), 1)")
      expect(await of()).toMatchObject({ state: 'indexing', isFollowed: true })
      await api.pool.query("UPDATE stream SET updated_at = now() - interval '1 hour' WHERE id = 1")
      expect((await of())?.state).toMatch(/^STUCK (1h|60m|59m)$/)
    } finally {
      await writer.query('SELECT pg_advisory_unlock_all()')
      writer.release()
    }
    expect((await status()).streams.find(({ kind }) => kind === 'registry')).toMatchObject({
      chainHead: null,
      state: '',
    })
  })

  it('says what is wrong with the read models', async () => {
    expect((await status()).fault).toBeNull()
    await api.pool.query("UPDATE read_models SET fault = 'They are lost.'")
    expect((await status()).fault).toBe('They are lost.')
    await api.pool.query('UPDATE read_models SET fault = NULL')
  })

  it('says of every stream what the database says', async () => {
    const { streams, replays, verifications } = await status()
    const { rows } = await api.pool.query<{ name: string; events: number; block: number; time: number }>(
      `SELECT s.name, count(e.position)::int AS events, max(s.head_height)::int AS block, max(s.head_time)::int AS time
       FROM stream s LEFT JOIN LATERAL stored_events(s.id, 0, s.head) e ON true GROUP BY s.name`,
    )
    expect(rows.length).toBeGreaterThan(1)
    expect(streams.map(({ name, head, headBlock }) => ({ name, head, headBlock })).sort(byName)).toEqual(
      rows.map(({ name, events, block }) => ({ name, head: events, headBlock: block })).sort(byName),
    )
    for (const { name, kind, age } of streams) {
      const time = rows.find(row => row.name === name)?.time ?? 0
      if (kind !== 'evm') expect(age).toBeNull()
      else expect(Math.abs((age ?? Number.NaN) - (Date.now() / 1000 - time))).toBeLessThan(60)
    }
    expect([replays, verifications]).toEqual([[], []])
  })

  it('says how far each projection is behind', async () => {
    const behindOf = async (projection: string) =>
      (await status()).streams
        .find(({ name }) => name === 'mainnet')
        ?.projections.find(({ name }) => name === projection)?.behind
    expect([await behindOf('balance'), await behindOf('event')]).toEqual([0, 0])
    await api.pool.query(
      `UPDATE checkpoint SET position = position - 7 WHERE projection = 'balance' AND stream = 1`,
    )
    expect([await behindOf('balance'), await behindOf('event')]).toEqual([7, 0])
    await api.pool.query(
      `UPDATE checkpoint SET position = position + 7 WHERE projection = 'balance' AND stream = 1`,
    )
  })

  it('counts jobs, open dead letters by reason, replays and verifications', async () => {
    await api.pool.query(
      `INSERT INTO dead_letter (stage, stream, block_hash, reason, payload, last_at, resolved_at) VALUES
       ('decode', 1, '0x1', 'no such event', '{}', '2026-01-01T00:00:00Z', NULL),
       ('decode', 1, '0x2', 'no such event', '{}', '2026-01-03T00:00:00Z', NULL),
       ('project', 1, '0x3', '<img src=x onerror=alert(1)>', '{}', '2026-01-02T00:00:00Z', NULL),
       ('decode', 1, '0x4', 'dealt with', '{}', '2026-01-04T00:00:00Z', now())`,
    )
    await api.pool.query(
      `INSERT INTO replay (database, projection, stream, version, from_position, position, started_at)
       SELECT 'vaultlog_replay', projection, stream, version, 0, 5, '2026-01-05T00:00:00Z' FROM checkpoint
       WHERE projection = 'balance' AND stream = 1`,
    )
    await api.pool.query(
      `INSERT INTO verification VALUES ('balance', 'mainnet', false, '2026-01-06T00:00:00Z'), ('flow', 'mainnet', true, '2026-01-06T00:00:00Z')`,
    )
    const { streams, queue: jobs, deadLetters, replays, verifications } = await status()
    expect(jobs).toMatchObject({ waiting: 2, delayed: 1, active: 0, failed: 0 })
    expect(deadLetters).toEqual([
      {
        stream: 'mainnet',
        stage: 'decode',
        reason: 'no such event',
        count: 2,
        newest: '2026-01-03T00:00:00.000Z',
      },
      {
        stream: 'mainnet',
        stage: 'project',
        reason: '<img src=x onerror=alert(1)>',
        count: 1,
        newest: '2026-01-02T00:00:00.000Z',
      },
    ])
    const mainnet = streams.find(({ name }) => name === 'mainnet')
    expect(mainnet?.deadLetters).toBe(3)
    expect(replays).toEqual([
      {
        purpose: 'replay',
        projection: 'balance',
        stream: 'mainnet',
        position: 5,
        goal: mainnet?.head,
        startedAt: '2026-01-05T00:00:00.000Z',
      },
    ])
    expect(verifications.map(({ table, isEqual }) => [table, isEqual])).toEqual([
      ['balance', false],
      ['flow', true],
    ])
  })

  it('keeps lag and head of the last hour, and no more', async () => {
    const { rows } = await api.pool.query<{ head: number; head_time: number }>(
      'SELECT head, head_time FROM stream WHERE id = 1',
    )
    const [row] = rows
    if (!row) return expect.fail('no stream')
    const from = row.head_time + 40
    for (const later of [0, 10, 20, 3_615]) await history.look(from + later)
    const columns = (await status()).history
    expect(columns.at).toEqual([from + 20, from + 3_615])
    expect(columns.streams['mainnet']).toEqual({ lag: [60, 3_655], head: [row.head, row.head] })
    expect(columns.streams['registry']?.lag).toEqual([null, null])
  })
})

describe('the page', () => {
  it('is one page with its parts beside it, wherever it is mounted', async () => {
    const moved = await get('/ops')
    expect([moved.status, moved.headers.get('location')]).toEqual([302, './ops/'])
    const html = await (await get('/ops/')).text()
    const parts = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, part]) => part ?? '')
    expect(parts).toEqual(expect.arrayContaining(['page.css', 'page.js', 'queues']))
    for (const part of parts.filter(part => !part.startsWith('data:'))) {
      expect(part).not.toMatch(/^\/|:/)
      expect((await get(`/ops/${part}`)).status).toBe(200)
    }
  })

  it('draws lines with gaps where nothing was known, and rates from positions', async () => {
    const script = new URL('../../../read-api/ops/page.js', import.meta.url).href
    const { linePath, throughput, duration } = (await import(script)) as {
      linePath(at: number[], values: (number | null)[], box: Record<string, number>): string
      throughput(at: number[], head: (number | null)[]): (number | null)[]
      duration(seconds: number | null): string
    }
    const rates = throughput([0, 10, 20, 40, 50], [100, 150, null, 200, 230])
    expect(rates).toEqual([null, 5, null, null, 3])
    const box = { width: 100, height: 10, from: 0, to: 50, max: 5 }
    expect(linePath([0, 10, 20, 40, 50], rates, box)).toBe('M20.0,0.0M100.0,4.0')
    expect(linePath([0, 25, 50], [0, 5, 2.5], box)).toBe('M0.0,10.0L50.0,0.0L100.0,5.0')
    expect([null, 0, 99, 600, 7_200, 864_000].map(duration)).toEqual([
      '–',
      '0 s',
      '99 s',
      '10 min',
      '2 h',
      '10 d',
    ])
  })

  it('is alarmed by chains that stand still, not by the clock of a test chain, and names what is behind', async () => {
    const script = new URL('../../../read-api/ops/page.js', import.meta.url).href
    const { isBad, remarks, behindOf } = (await import(script)) as {
      isBad(stream: { kind: string; state: string; age: number }): boolean
      remarks(status: { fault: string | null; streams: object[] }): string[]
      behindOf(streams: object[]): [string, string, number][]
    }
    const chain = { kind: 'evm', age: 48_000_000 }
    expect(
      ['live', 'indexing', 'retired', 'STUCK 3m', 'no processor'].map(state => isBad({ ...chain, state })),
    ).toEqual([false, false, false, true, true])
    expect(isBad({ kind: 'registry', state: '', age: 0 })).toBe(false)
    const streams = [
      { name: 'base', withoutState: 1_234, samplesSince: 5_678, olderLogs: 0, sampledInTurns: [] },
      { name: 'mainnet', withoutState: null, olderLogs: 2, sampledInTurns: [] },
    ]
    expect(remarks({ fault: 'Lost.', streams })).toEqual([
      'Lost.',
      'base: samples since block 5,678: the node keeps no state of old blocks (met at block 1,234).',
      'mainnet: what 2 contracts logged long ago is being fetched.',
    ])
    const projections = (a: number, b: number) => [
      { name: 'flow', behind: a },
      { name: 'vault', behind: b },
    ]
    expect(
      behindOf([
        { name: 'base', projections: projections(0, 7) },
        { name: 'mainnet', projections: projections(9, 0) },
      ]),
    ).toEqual([
      ['flow', 'mainnet', 9],
      ['vault', 'base', 7],
    ])
  })

  const chromium = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
  const isThere = existsSync(chromium)
  if (!isThere) console.warn(`The operator's page is not opened in a browser: there is no ${chromium}.`)

  it.skipIf(!isThere)('shows all of it in a browser, within its own policy', async () => {
    const { mainnet } = Object.fromEntries((await status()).streams.map(stream => [stream.name, stream]))
    await history.look()
    await history.look(Date.now() / 1000 + 1)
    const url = new URL('/ops/', replica.url)
    url.username = 'operator'
    url.password = admin
    const { stdout, stderr } = await promisify(execFile)(
      chromium,
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--enable-logging=stderr',
        '--virtual-time-budget=4000',
        '--dump-dom',
        url.href,
      ],
      { timeout: 60_000, maxBuffer: 10_000_000 },
    )
    expect(stderr).not.toMatch(/Content Security Policy|CONSOLE.*error/i)
    expect(stdout).toMatch(/as of \d{4}-\d\d-\d\d/)
    for (const text of [mainnet?.headBlock, mainnet?.head])
      expect(stdout).toContain(`>${text?.toLocaleString('en-GB')}<`)
    expect(stdout).toContain('no such event')
    expect(stdout).toContain('&lt;img src=x onerror=alert(1)&gt;')
    expect(stdout).toMatch(/<progress max="\d+" value="5"|<progress value="5" max="\d+"/)
    expect(stdout).toContain('different')
    expect(stdout).toMatch(/<path d="M[\d.]+,[\d.]+L/)
  })
})

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1
}
