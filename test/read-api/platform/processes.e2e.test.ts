import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createKey, definePlan } from '../../../db/keys/keys.ts'
import { API_COMMAND } from '../../../db/process/api-command.ts'
import { freePort } from '../../chain/anvil-process.ts'
import { type Running, start } from '../../faults/command.ts'
import { findRedis } from '../../redis.ts'
import type { ApiHarness } from '../harness.ts'
import { startApi } from '../harness.ts'
import * as w from '../world.ts'
import { creditsUsed, namespace } from './replicas.ts'

/** Two processes of the API, as an operator starts them, on the same stores: what one counts the other knows. */
const redisUrl = await findRedis()
let api: ApiHarness

beforeAll(async () => {
  api = await startApi()
  await w.seed(api, w.makeWorld())
})
afterAll(() => api?.stop())

describe.each([
  { store: 'Postgres', url: '', skip: false },
  { store: 'Redis', url: redisUrl ?? '', skip: redisUrl === undefined },
])('two processes on $store', ({ store, url, skip }) => {
  const processes: { running: Running; url: string }[] = []
  const prefix = namespace()

  beforeAll(async () => {
    if (skip) return
    for (const port of [await freePort(), await freePort()]) {
      const running = start(API_COMMAND, {
        DATABASE_URL: api.databaseUrl,
        CLICKHOUSE_URL: inject('clickhouseUrl'),
        CLICKHOUSE_DATABASE: api.house.database,
        REDIS_URL: url,
        REDIS_PREFIX: prefix,
        API_PORT: String(port),
      })
      processes.push({ running, url: `http://127.0.0.1:${port}` })
    }
    await Promise.all(processes.map(({ running }) => running.until(/read API listening/)))
  })
  afterAll(async () => {
    for (const { running } of processes) running.child.kill('SIGTERM')
    for (const { running } of processes) expect((await running.ended).code).toBe(0)
  })

  const makeKey = async (creditsPerMonth: number, requestsPerMinute: number) => {
    const plan = `p-${store}-${creditsPerMonth}-${requestsPerMinute}`.toLowerCase()
    await definePlan(api.pool, { name: plan, creditsPerMonth, requestsPerMinute })
    return createKey(api.pool, { name: plan, plan })
  }
  /** Request i goes to process i mod 2, all of them at once. */
  const ask = (count: number, path: string, key: string) =>
    Promise.all(
      Array.from({ length: count }, async (_, i) => {
        const answer = await fetch(`${processes[i % 2]?.url}${path}`, { headers: { 'x-api-key': key } })
        await answer.arrayBuffer()
        return { status: answer.status, headers: answer.headers }
      }),
    )
  const booked = (id: number) => expect.poll(() => creditsUsed(api, id))

  it.skipIf(skip)('book exactly the credits there are', async () => {
    const { id, key } = await makeKey(200, 1_000_000)
    // One vault costs 3: 66 fit into 200.
    const path = `/v2/detailed-vaults/mainnet/${w.USD_VAULT}`
    const first = await ask(2, path, key)
    expect(first.map(({ status }) => status)).toEqual([200, 200])
    const answers = [...first, ...(await ask(158, path, key))]
    const good = answers.filter(({ status }) => status === 200)
    expect(good).toHaveLength(66)
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(94)
    // Every answer is booked once: what was left after each is another figure.
    expect(
      good.map(({ headers }) => Number(headers.get('x-credits-remaining'))).sort((a, b) => b - a),
    ).toEqual(Array.from({ length: 66 }, (_, i) => 197 - 3 * i))
    await booked(id).toBe(198)
    const rest = await ask(2, '/v2/networks', key)
    expect(rest.map(({ status }) => status)).toEqual([200, 200])
    expect((await ask(2, '/v2/networks', key)).map(({ status }) => status)).toEqual([403, 403])
    await booked(id).toBe(200)
  })

  it.skipIf(skip)('admit exactly the requests of the minute', async () => {
    const { id, key } = await makeKey(1_000_000, 70)
    const first = await ask(2, '/v2/networks', key)
    expect(first.map(({ status }) => status)).toEqual([200, 200])
    const answers = [...first, ...(await ask(198, '/v2/networks', key))]
    const good = answers.filter(({ status }) => status === 200)
    expect(good).toHaveLength(70)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(130)
    expect(
      good.map(({ headers }) => Number(headers.get('ratelimit-remaining'))).sort((a, b) => b - a),
    ).toEqual(Array.from({ length: 70 }, (_, i) => 69 - i))
    await booked(id).toBe(70)
  })
})
