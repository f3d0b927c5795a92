import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { registerStream } from '../db/events/event-store.ts'
import { retireChain } from '../db/events/retire.ts'
import { createKey } from '../db/keys/keys.ts'
import { API_COMMAND } from '../db/process/api-command.ts'
import { freePort } from './chain/anvil-process.ts'
import { createClickHouse, createPostgres, type TestClickHouse, type TestPostgres } from './databases.ts'
import { type Running, start, vaultlog } from './faults/command.ts'
import { type SmallChain, startSmallChain } from './faults/small-chain.ts'
import { documentedMetrics, parseExposition, type Sample } from './metrics.ts'

/** The three kinds of process as an operator starts them, and what they say of themselves. */
const CHAIN = 'optimism'
let chain: SmallChain
let postgres: TestPostgres
let house: TestClickHouse
let env: Record<string, string>
let key: string
const running: Record<string, Running> = {}
const ports: Record<string, number> = {}
const scraped: Record<string, ReturnType<typeof parseExposition>> = {}
let apiUrl: string

const scrape = async (process: string) => {
  const answer = await fetch(`http://127.0.0.1:${ports[process]}/metrics`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  return parseExposition(await answer.text())
}
const find = (samples: readonly Sample[], name: string, labels: Record<string, string> = {}) =>
  samples.filter(
    sample =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )
const sum = (samples: readonly Sample[]) => samples.reduce((total, { value }) => total + value, 0)

beforeAll(async () => {
  ;[chain, postgres, house] = await Promise.all([
    startSmallChain(41, { chainId: 10 }),
    createPostgres(),
    createClickHouse(),
  ])
  await chain.live(8)
  // An operator who takes a chain up again has retired it before.
  await registerStream(postgres.pool, 10, CHAIN, 'evm')
  await retireChain(postgres.pool, 10, CHAIN)
  key = (await createKey(postgres.pool, { name: 'test', plan: 'unlimited' })).key
  const apiPort = await freePort()
  apiUrl = `http://127.0.0.1:${apiPort}`
  for (const process of ['processor', 'worker', 'api']) ports[process] = await freePort()
  env = {
    DATABASE_URL: postgres.url,
    CLICKHOUSE_URL: inject('clickhouseUrl'),
    CLICKHOUSE_DATABASE: house.house.database,
    REDIS_URL: '',
    RPC_OPTIMISM: chain.node.rpcUrl,
    POLL_INTERVAL_MS: '100',
    API_PORT: String(apiPort),
    // Optimism is the second network of the table.
    PROCESSOR_METRICS_PORT: String((ports['processor'] ?? 0) - 1),
    WORKER_METRICS_PORT: String(ports['worker']),
    API_METRICS_PORT: String(ports['api']),
  }
  running['processor'] = start(['processors/main.ts', CHAIN], env)
  running['worker'] = start(['jobs/main.ts'], env)
  running['api'] = start(API_COMMAND, env)
  await running['api'].until(/read API listening/)
})
afterAll(async () => {
  for (const { child } of Object.values(running)) child.kill('SIGTERM')
  for (const { ended } of Object.values(running)) await ended
  await house?.drop()
  await postgres?.drop()
  await chain?.node.stop()
})

describe('metrics of the processes', () => {
  test('say when all have caught up', async () => {
    const { number } = await chain.node.head()
    await expect
      .poll(
        async () => {
          const { samples } = await scrape('worker')
          const answer = await fetch(`${apiUrl}/v2/networks`, { headers: { 'x-api-key': key } })
          await answer.arrayBuffer()
          const heads = await scrape('processor')
          return [
            find(heads.samples, 'vaultlog_chain_head_block')[0]?.value,
            find(samples, 'vaultlog_projection_behind_events', { stream: CHAIN }).length > 10,
            sum(find(samples, 'vaultlog_projection_behind_events')),
            answer.status,
          ]
        },
        { timeout: 240_000, interval: 250 },
      )
      .toEqual([number, true, 0, 200])
  }, 300_000)

  test('figures are those of the databases and of the chain', async () => {
    // Something to tell of each kind: a dead letter, a verification, a replay left unfinished.
    await postgres.pool.query(
      `INSERT INTO dead_letter (stage, stream, reason, payload) VALUES ('decode', 10, 'one', '{}'), ('decode', 10, 'two', '{}')`,
    )
    const verified = await vaultlog(env, 'verify')
    expect(verified.code).toBe(0)
    await postgres.pool.query(
      `INSERT INTO replay (database, projection, stream, version, from_position, position)
       SELECT 'x_replay', projection, stream, version, 0, 3 FROM checkpoint WHERE projection = 'balance'`,
    )
    const before = await scrape('api')
    for (const path of ['/v2/vaults', '/v2/vaults', '/nowhere']) {
      const answer = await fetch(`${apiUrl}${path}`, { headers: { 'x-api-key': key } })
      await answer.arrayBuffer()
    }
    for (const process of Object.keys(ports)) scraped[process] = await scrape(process)
    const [processor, worker, api] = ['processor', 'worker', 'api'].map(p => scraped[p]?.samples ?? [])
    if (!processor || !worker || !api) return expect.fail('not scraped')

    const head = await chain.node.head()
    expect(find(processor, 'vaultlog_chain_head_timestamp_seconds', { chain: CHAIN })[0]?.value).toBe(
      head.timestamp,
    )
    const { rows } = await postgres.pool.query<{ events: number; position: number }>(
      `SELECT count(*)::int AS events, max(position)::int AS position FROM stored_events(10, 0, 9007199254740991)`,
    )
    const events = rows[0]?.events ?? 0
    expect(events).toBeGreaterThan(20)
    expect(find(processor, 'vaultlog_events_appended_total')[0]?.value).toBe(events)
    expect(find(worker, 'vaultlog_stream_head_position', { stream: CHAIN })[0]?.value).toBe(events)
    for (const projection of ['event', 'balance', 'vault'])
      expect(sum(find(worker, 'vaultlog_projected_events_total', { projection, stream: CHAIN }))).toBe(events)
    const now = Date.now() / 1000
    for (const [samples, name] of [
      [processor, 'vaultlog_chain_lag_seconds'],
      [worker, 'vaultlog_stream_age_seconds'],
      [api, 'vaultlog_catalogue_age_seconds'],
    ] as const) {
      const age = Math.max(0, now - head.timestamp)
      expect(Math.abs((find(samples, name)[0]?.value ?? Number.NaN) - age), name).toBeLessThan(60)
    }

    expect(find(worker, 'vaultlog_dead_letters_open', { stream: CHAIN, stage: 'decode' })[0]?.value).toBe(2)
    const lines = [...verified.stdout.matchAll(/^(\w+) +(\w+) .* equal$/gm)].map(([, t, s]) => `${t} ${s}`)
    expect(lines.length).toBeGreaterThan(10)
    const equal = find(worker, 'vaultlog_verify_equal')
    expect(equal.map(({ labels }) => `${labels['table']} ${labels['stream']}`).sort()).toEqual(lines.sort())
    expect(equal.filter(({ value }) => value !== 1)).toEqual([])
    const replay = { purpose: 'replay', projection: 'balance', stream: CHAIN }
    expect(find(worker, 'vaultlog_replay_position_events', replay)[0]?.value).toBe(3)
    expect(find(worker, 'vaultlog_replay_goal_events', replay)[0]?.value).toBe(events)

    const asked = (samples: readonly Sample[], route: string) =>
      sum(find(samples, 'vaultlog_http_request_duration_seconds_count', { route }))
    expect(asked(api, '/v2/vaults') - asked(before.samples, '/v2/vaults')).toBe(2)
    expect(asked(api, 'none') - asked(before.samples, 'none')).toBe(1)
    const usage = await postgres.pool.query<{ credits: number }>(
      'SELECT sum(credits)::int AS credits FROM api_usage',
    )
    expect(sum(find(api, 'vaultlog_credits_charged_total'))).toBe(usage.rows[0]?.credits)
    expect(sum(find(api, 'vaultlog_clickhouse_query_duration_seconds_count'))).toBeGreaterThan(5)
  })

  test('what is documented is exposed, what is exposed is documented: names, types, labels', () => {
    for (const [process, { types, help, samples }] of Object.entries(scraped)) {
      const documented = documentedMetrics().filter(metric => [process, 'all'].includes(metric.process))
      const ours = [...types].filter(([name]) => name?.startsWith('vaultlog_')).sort()
      expect(ours, process).toEqual(documented.map(({ name, type }) => [name, type]).sort())
      expect(types.has('process_cpu_seconds_total')).toBe(true)
      for (const { name, labels, type } of documented) {
        expect(help.get(name), name).toMatch(/\w/)
        const [sample] = find(samples, type === 'histogram' ? `${name}_count` : name)
        if (sample) expect(Object.keys(sample.labels).sort(), name).toEqual(labels)
      }
    }
    expect(Object.keys(scraped)).toHaveLength(3)
  })

  test('vaultlog status --watch goes on telling, until Ctrl-C', async () => {
    const watching = start(['jobs/cli.ts', 'status', '--watch', '0.2'], { ...env, LOG_LEVEL: 'warn' })
    const line = (block: number) =>
      new RegExp(`^${CHAIN} +${block} +\\d+ +0 +[\\d.]+ +\\d+[smhd] +live +\\d+ +\\d+\\.\\d `, 'm')
    const { number } = await chain.node.head()
    await watching.until(line(number))
    await chain.live(1)
    await watching.until(line(number + 1))
    watching.child.kill('SIGINT')
    expect((await watching.ended).code).toBe(0)
  })

  test('/live answers; another path does not', async () => {
    for (const port of Object.values(ports)) {
      expect((await fetch(`http://127.0.0.1:${port}/live`)).status).toBe(200)
      expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
    }
  })

  test('a port in use ends the process, with the name of the setting', async () => {
    const second = await start(['jobs/main.ts'], env).ended
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(`Port ${ports['worker']} for the metrics of the worker is in use`)
    expect(second.stderr).toContain('WORKER_METRICS_PORT')
  })

  test('a chain that is retired grows old without an alert', async () => {
    const ages = async () => [
      ...find((await scrape('worker')).samples, 'vaultlog_stream_age_seconds'),
      ...find((await scrape('api')).samples, 'vaultlog_catalogue_age_seconds'),
    ]
    expect(await ages()).toHaveLength(2)
    running['processor']?.child.kill('SIGTERM')
    expect((await running['processor']?.ended)?.code).toBe(0)
    expect((await vaultlog(env, 'retire', CHAIN)).stdout).toMatch(/optimism is retired until its processor/)
    expect(await ages()).toEqual([])
    expect((await vaultlog(env, 'status')).stdout).toMatch(/^optimism +\d+ +retired /m)
  })

  test('the ports are free again after SIGTERM', async () => {
    for (const { child } of Object.values(running)) child.kill('SIGTERM')
    for (const { ended } of Object.values(running)) expect((await ended).code).toBe(0)
    for (const port of Object.values(ports))
      await expect(fetch(`http://127.0.0.1:${port}/live`)).rejects.toThrow()
  })
})
