import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createKeyVerifier, definePlan, revokeKey, setKeyPlan } from '../../../db/keys/keys.ts'
import { openPostgres } from '../../../db/postgres.ts'
import { ErrorBody } from '../../../read-api/http/shapes.ts'
import { findRedis } from '../../redis.ts'
import type { ApiHarness } from '../harness.ts'
import { startApi } from '../harness.ts'
import * as w from '../world.ts'
import type { Replica } from './replicas.ts'
import { creditsUsed, namespace, startReplica } from './replicas.ts'

const redisUrl = await findRedis()
let api: ApiHarness

beforeAll(async () => {
  api = await startApi()
  await w.seed(api, w.makeWorld())
})
afterAll(() => api?.stop())

describe.each([
  { store: 'Postgres', url: undefined as string | undefined, skip: false },
  { store: 'Redis', url: redisUrl, skip: redisUrl === undefined },
])('two replicas on $store', ({ store, url, skip }) => {
  let replicas: [Replica, Replica]

  beforeAll(async () => {
    if (skip) return
    const shared = { redisUrl: url, namespace: namespace() }
    replicas = [await startReplica(api, shared), await startReplica(api, shared)]
  })
  afterAll(async () => {
    if (!skip) for (const replica of replicas) await replica.stop()
  })

  const makeKey = async (creditsPerMonth: number, requestsPerMinute: number) => {
    const plan = `${store}-${creditsPerMonth}-${requestsPerMinute}`.toLowerCase()
    await definePlan(api.pool, { name: plan, creditsPerMonth, requestsPerMinute })
    return createKey(api.pool, { name: plan, plan })
  }
  const get = (replica: number, path: string, key: string) =>
    fetch(`${replicas[replica % 2 === 0 ? 0 : 1].url}${path}`, { headers: { 'x-api-key': key } })
  const booked = (id: number) => expect.poll(() => creditsUsed(api, id))

  it.skipIf(skip)('book exactly the credits there are, under load from many callers', async () => {
    const { id, key } = await makeKey(100, 100_000)
    // A detailed vault costs 3: 33 fit into 100, and one credit is left for one of the cost 1.
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, i) => get(i, `/v2/detailed-vaults/mainnet/${w.USD_VAULT}`, key)),
    )
    const good = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status === 403)
    expect(good).toHaveLength(33)
    expect(refused).toHaveLength(47)
    expect(good.map(({ headers }) => headers.get('x-credits-used'))).toEqual(good.map(() => '3'))
    const remaining = good.map(({ headers }) => Number(headers.get('x-credits-remaining')))
    expect(remaining.sort((a, b) => b - a)).toEqual(Array.from({ length: 33 }, (_, i) => 97 - 3 * i))
    for (const answer of refused) {
      const body = ErrorBody.parse(await answer.json())
      expect(body).toMatchObject({
        statusCode: 403,
        error: 'Forbidden',
        errorId: answer.headers.get('x-request-id'),
      })
      expect(body.message).toMatch(/costs 3 credits and the key has \d+ left/)
      expect(answer.headers.get('x-credits-used')).toBe('0')
    }
    const last = await get(0, '/v2/networks', key)
    expect([last.status, last.headers.get('x-credits-remaining')]).toEqual([200, '0'])
    expect((await get(1, '/v2/networks', key)).status).toBe(403)
    await booked(id).toBe(100)
  })

  it.skipIf(skip)('admit exactly the requests of the minute, and say when to come back', async () => {
    const { id, key } = await makeKey(1_000_000, 50)
    const answers = await Promise.all(Array.from({ length: 120 }, (_, i) => get(i, '/v2/networks', key)))
    const good = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status === 429)
    expect(good).toHaveLength(50)
    expect(refused).toHaveLength(70)
    for (const { headers } of answers) {
      expect(headers.get('ratelimit-limit')).toBe('50')
      const [left, reset] = [headers.get('ratelimit-remaining'), headers.get('ratelimit-reset')]
      expect(Number(reset)).toBeGreaterThan(0)
      expect(Number(reset)).toBeLessThanOrEqual(60)
      expect(headers.get('ratelimit-policy')).toBe('"minute";q=50;w=60')
      expect(headers.get('ratelimit')).toBe(`"minute";r=${left};t=${reset}`)
    }
    expect(
      good.map(({ headers }) => Number(headers.get('ratelimit-remaining'))).sort((a, b) => b - a),
    ).toEqual(Array.from({ length: 50 }, (_, i) => 49 - i))
    for (const answer of refused) {
      const body = ErrorBody.parse(await answer.json())
      expect(body).toMatchObject({ statusCode: 429, error: 'Too Many Requests' })
      expect(answer.headers.get('retry-after')).toBe(answer.headers.get('ratelimit-reset'))
      expect(answer.headers.get('x-credits-used')).toBe('0')
    }
    await booked(id).toBe(50)
  })

  it.skipIf(skip)('charge nothing for what fails', async () => {
    const { id, key } = await makeKey(100, 1_000)
    const wrong: [string, number][] = [
      ['/v2/networks?nope=1', 400],
      ['/v2/detailed-vaults/mainnet/0x123', 400],
      ['/v2/detailed-vaults/mainnet/nothing-of-that-name', 404],
      [`/v2/historical/mainnet/${w.USD_VAULT}?fromTimestamp=200&toTimestamp=100`, 422],
    ]
    for (const [path, status] of wrong) {
      const answer = await get(0, path, key)
      expect(answer.status).toBe(status)
      expect(answer.headers.get('x-credits-used')).toBe('0')
      expect(answer.headers.get('x-credits-remaining')).toBe('100')
    }
    // 3 + 3 for each of 50 items is more than there is: not delivered, not charged.
    const dear = await get(1, `/v2/historical/mainnet/${w.USD_VAULT}`, key)
    expect(dear.status).toBe(403)
    expect(ErrorBody.parse(await dear.json()).message).toContain('a smaller page costs less')
    expect(dear.headers.get('x-credits-remaining')).toBe('100')
    const cheap = await get(1, `/v2/historical/mainnet/${w.USD_VAULT}?perPage=10`, key)
    expect([cheap.status, cheap.headers.get('x-credits-used')]).toEqual([200, '33'])
    await booked(id).toBe(33)
  })

  it.skipIf(skip)('take a new key at once, another plan and a revocation within seconds', async () => {
    const made = await makeKey(10, 5)
    for (const replica of [0, 1]) expect((await get(replica, '/v2/networks', made.key)).status).toBe(200)
    await setKeyPlan(api.pool, made.code, 'standard')
    await new Promise(resolve => setTimeout(resolve, 5_200))
    for (const replica of [0, 1]) {
      const answer = await get(replica, '/v2/networks', made.key)
      expect(answer.headers.get('ratelimit-limit')).toBe('600')
    }
    await revokeKey(api.pool, made.code)
    await new Promise(resolve => setTimeout(resolve, 5_200))
    for (const replica of [0, 1]) {
      const answer = await get(replica, '/v2/networks', made.key)
      expect(answer.status).toBe(401)
      expect(ErrorBody.parse(await answer.json()).message).toContain('revoked')
    }
  })
})

it('is 503 with Retry-After when Redis is down, and nothing goes through unmetered', async () => {
  const replica = await startReplica(api, { redisUrl: 'redis://127.0.0.1:1' })
  const answer = await fetch(`${replica.url}/v2/networks`, { headers: { 'x-api-key': api.apiKey } })
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('5')
  ErrorBody.parse(await answer.json())
  await replica.stop()
})

it('however many keys are invented, one question is asked at a time, and a key that is there is found', async () => {
  const pool = openPostgres(api.databaseUrl, 'verifier', 8)
  const verify = createKeyVerifier(pool)
  const invented = Array.from({ length: 500 }, () => verify(`vl_${randomBytes(32).toString('base64url')}`))
  const [mine, ...found] = await Promise.all([verify(api.apiKey), ...invented])
  expect(mine?.name).toBe('test')
  expect(found.every(key => key === undefined)).toBe(true)
  expect(pool.totalCount).toBe(1)
  await pool.end()
})

it('a key has a name', async () => {
  await expect(createKey(api.pool, { name: ' ' })).rejects.toThrow('needs a name')
})
