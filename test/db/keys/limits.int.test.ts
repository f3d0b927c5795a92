import { randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type CreditMeter, createCreditMeter } from '../../../db/keys/credits.ts'
import { createKey, createKeyVerifier, definePlan, listKeys } from '../../../db/keys/keys.ts'
import { createRateMeter } from '../../../db/keys/rates.ts'
import { openLimitsRedis } from '../../../db/keys/redis.ts'
import { openPostgres } from '../../../db/postgres.ts'
import { UnavailableError } from '../../../db/process/errors.ts'
import type { TestPostgres } from '../../databases.ts'
import { createPostgres } from '../../databases.ts'
import { startTcpProxy } from '../../faults/tcp-proxy.ts'
import { findRedis } from '../../redis.ts'

const redisUrl = await findRedis()
const namespace = `vaultlog-test-${randomBytes(6).toString('hex')}`

describe.each([
  { store: 'Postgres', url: undefined as string | undefined, skip: false },
  { store: 'Redis', url: redisUrl, skip: redisUrl === undefined },
])('limits in $store', ({ url, skip }) => {
  let postgres: TestPostgres
  let replicas: { pool: TestPostgres['pool']; redis: Redis | undefined }[]
  const meters: CreditMeter[] = []

  beforeAll(async () => {
    if (skip) return
    postgres = await createPostgres()
    await definePlan(postgres.pool, { name: 'small', creditsPerMonth: 500, requestsPerMinute: 40 })
    // Two processes share nothing but the stores: each has connections of its own.
    replicas = [0, 1].map(() => ({
      pool: openPostgres(postgres.url, 'test', 4),
      redis: url ? openLimitsRedis(url) : undefined,
    }))
  })
  afterAll(async () => {
    if (skip) return
    await Promise.all(meters.map(meter => meter.close()))
    for (const { pool, redis } of replicas) {
      await pool.end()
      if (redis) {
        const names = await redis.keys(`${namespace}*`)
        if (names.length > 0) await redis.del(names)
        redis.disconnect()
      }
    }
    await postgres.drop()
  })

  const openMeter = (place: number, options: { now?: () => Date; flushMs?: number } = {}) => {
    const { pool, redis } = replicas[place % 2] as (typeof replicas)[number]
    const meter = createCreditMeter(pool, { redis, namespace, flushMs: 20, ...options })
    meters.push(meter)
    return meter
  }
  const usedOf = async (id: number) => (await listKeys(postgres.pool)).find(key => key.id === id)?.creditsUsed

  it.skipIf(skip)('accepts what fits, not one too many and not one lost, from two processes', async () => {
    const key = await createKey(postgres.pool, { name: 'a', plan: 'small' })
    const pair = [openMeter(0), openMeter(1)]
    // 2 × 100 × 3 = 600 credits asked for, 500 in the plan: 166 charges of 3 fit, 2 credits are left.
    const receipts = await Promise.all(
      pair.flatMap(meter => Array.from({ length: 100 }, () => meter.charge(key, 3))),
    )
    expect(receipts.filter(({ isAccepted }) => isAccepted)).toHaveLength(166)
    expect(await pair[0]?.charge(key, 3)).toEqual({ isAccepted: false, remaining: 2 })
    expect(await pair[1]?.charge(key, 2)).toEqual({ isAccepted: true, remaining: 0 })
    expect(await pair[1]?.charge(key, 0)).toEqual({ isAccepted: true, remaining: 0 })
    expect(await pair[0]?.remaining(key)).toBe(0)
    await Promise.all(pair.map(meter => meter.close()))
    expect(await usedOf(key.id)).toBe(500)
    expect(await openMeter(0).remaining(key)).toBe(0)
  })

  it.skipIf(skip)(
    'keeps keys apart, and remaining credits never rise in the order of the charges',
    async () => {
      const keys = await Promise.all(
        ['b', 'c', 'd'].map(name => createKey(postgres.pool, { name, plan: 'small' })),
      )
      const meter = openMeter(0)
      const receipts = await Promise.all(
        Array.from({ length: 90 }, (_, i) => meter.charge(keys[i % 3] as (typeof keys)[number], (i % 3) + 1)),
      )
      for (const [at, key] of keys.entries()) {
        const own = receipts.filter((_, i) => i % 3 === at).map(({ remaining }) => remaining)
        expect(own).toEqual(Array.from({ length: 30 }, (_, i) => 500 - (i + 1) * (at + 1)))
        expect(await meter.remaining(key)).toBe(500 - 30 * (at + 1))
      }
    },
  )

  it.skipIf(skip)('begins anew with the month', async () => {
    const key = await createKey(postgres.pool, { name: 'e', plan: 'small' })
    let now = new Date('2025-01-31T23:59:59Z')
    const meter = openMeter(0, { now: () => now })
    expect(await meter.charge(key, 499)).toEqual({ isAccepted: true, remaining: 1 })
    expect((await meter.charge(key, 2)).isAccepted).toBe(false)
    now = new Date('2025-02-01T00:00:00Z')
    expect(await meter.charge(key, 2)).toEqual({ isAccepted: true, remaining: 498 })
  })

  it.skipIf(skip)('lets a larger plan hold at once for what was used already', async () => {
    const key = await createKey(postgres.pool, { name: 'f', plan: 'small' })
    const meter = openMeter(0)
    expect((await meter.charge(key, 500)).isAccepted).toBe(true)
    expect((await meter.charge(key, 1)).isAccepted).toBe(false)
    expect(await meter.charge({ ...key, creditsPerMonth: 600 }, 1)).toEqual({
      isAccepted: true,
      remaining: 99,
    })
  })

  it.skipIf(skip)('lets a minute last no longer where the clock is set back by an hour in it', async () => {
    const { pool, redis } = replicas[0] as (typeof replicas)[number]
    const { admit } = createRateMeter(pool, { redis, namespace })
    const key = { id: 'set back', requestsPerMinute: 2 }
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
    onTestFinished(() => void vi.useRealTimers())
    const admitted = async () =>
      (await Promise.all([1, 2, 3].map(() => admit(key)))).map(one => one.isAdmitted)
    expect(await admitted()).toEqual([true, true, false])
    // What Redis counts is by the clock of its own machine.
    if (redis) await redis.pexpire(`${namespace}:rate:${key.id}`, 3_660_000)
    vi.useRealTimers()
    expect(await admitted()).toEqual([true, true, false])
    expect((await admit(key)).resetMs).toBeLessThanOrEqual(60_000)
  })

  it.skipIf(skip)('admits exactly the requests of a minute from two processes', async () => {
    const key = await createKey(postgres.pool, { name: 'g', plan: 'small' })
    const other = await createKey(postgres.pool, { name: 'h', plan: 'small' })
    const pair = replicas.map(({ pool, redis }) => createRateMeter(pool, { redis, namespace }))
    const answers = await Promise.all(
      pair.flatMap(meter => Array.from({ length: 35 }, () => meter.admit(key))),
    )
    expect(answers.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(40)
    expect(
      answers
        .filter(({ isAdmitted }) => isAdmitted)
        .map(({ remaining }) => remaining)
        .sort((a, b) => b - a),
    ).toEqual(Array.from({ length: 40 }, (_, i) => 39 - i))
    for (const { limit, resetMs } of answers) {
      expect(limit).toBe(40)
      expect(resetMs).toBeGreaterThan(10_000)
      expect(resetMs).toBeLessThanOrEqual(60_000)
    }
    expect(await pair[0]?.admit(key)).toMatchObject({ isAdmitted: false, remaining: 0 })
    expect(await pair[0]?.admit(other)).toMatchObject({ isAdmitted: true, remaining: 39 })
  })
})

describe.skipIf(!redisUrl)('credits in Redis', () => {
  it('survive a Redis that was emptied, and a process that was killed', async () => {
    const postgres = await createPostgres()
    const redis = openLimitsRedis(redisUrl ?? '')
    const own = `${namespace}-emptied`
    const empty = async () => {
      const names = await redis.keys(`${own}*`)
      if (names.length > 0) await redis.del(names)
    }
    const key = await createKey(postgres.pool, { name: 'a', plan: 'free' })
    // Killed before it wrote to Postgres: Redis still knows.
    const killed = createCreditMeter(postgres.pool, { redis, namespace: own, flushMs: 1e9 })
    await killed.charge(key, 100)
    const next = createCreditMeter(postgres.pool, { redis, namespace: own, flushMs: 1e9 })
    expect((await next.charge(key, 50)).remaining).toBe(9_850)
    await next.close()
    await empty()
    expect((await next.charge(key, 1)).remaining).toBe(9_849)
    const { rows } = await postgres.pool.query('SELECT credits, requests FROM api_usage')
    expect(rows).toEqual([{ credits: 150, requests: 2 }])
    await next.close()
    await killed.close()
    expect((await listKeys(postgres.pool))[0]?.creditsUsed).toBe(151)
    await empty()
    redis.disconnect()
    await postgres.drop()
  })
})

it.skipIf(!redisUrl)('a charge whose answer was lost is not booked again', async () => {
  const postgres = await createPostgres()
  const proxy = await startTcpProxy(redisUrl ?? '')
  const redis = openLimitsRedis(proxy.url)
  const own = `${namespace}-lost`
  const key = await createKey(postgres.pool, { name: 'a', plan: 'free' })
  const meter = createCreditMeter(postgres.pool, { redis, namespace: own, flushMs: 1e9 })
  expect((await meter.charge(key, 1)).remaining).toBe(9_999)
  proxy.losesAnswers = true
  const lost = expect(meter.charge(key, 7)).rejects.toThrow(UnavailableError)
  await lost
  proxy.losesAnswers = false
  await expect.poll(() => redis.ping()).toBe('PONG')
  expect((await meter.charge(key, 1)).remaining).toBe(9_991)
  await meter.close()
  const names = await redis.keys(`${own}*`)
  if (names.length > 0) await redis.del(names)
  redis.disconnect()
  await proxy.stop()
  await postgres.drop()
})

it.skipIf(!redisUrl)('a connection to Redis that was forgotten, and not closed, is left', async () => {
  const postgres = await createPostgres()
  const proxy = await startTcpProxy(redisUrl ?? '')
  const redis = openLimitsRedis(proxy.url)
  const own = `${namespace}-forgotten`
  const key = await createKey(postgres.pool, { name: 'a', plan: 'free' })
  const meter = createCreditMeter(postgres.pool, { redis, namespace: own, flushMs: 1e9 })
  expect((await meter.charge(key, 1)).isAccepted).toBe(true)
  proxy.hush()
  await expect(meter.charge(key, 1)).rejects.toThrow(UnavailableError)
  const charged = () => meter.charge(key, 1).then(({ isAccepted }) => isAccepted)
  await expect.poll(() => charged().catch(() => false), { timeout: 20_000 }).toBe(true)
  await meter.close()
  const names = await redis.keys(`${own}*`)
  if (names.length > 0) await redis.del(names)
  redis.disconnect()
  await proxy.stop()
  await postgres.drop()
})

it('a Postgres that hangs fails what waits for it, and is used again when it answers', async () => {
  const postgres = await createPostgres()
  const proxy = await startTcpProxy(postgres.url)
  const pool = openPostgres(proxy.url, 'test', 2, 5_000)
  const made = await createKey(postgres.pool, { name: 'a', plan: 'free' })
  const meter = createCreditMeter(pool)
  const rates = createRateMeter(pool)
  expect((await meter.charge(made, 1)).isAccepted).toBe(true)
  proxy.delay = 20_000
  for (let i = 0; i < 3; i++) {
    const charged = expect(meter.charge(made, 1)).rejects.toThrow(UnavailableError)
    const admitted = expect(rates.admit(made)).rejects.toThrow(UnavailableError)
    await expect(createKeyVerifier(pool)(made.key)).rejects.toThrow(/time/)
    await Promise.all([charged, admitted])
  }
  proxy.delay = 0
  const charged = () => meter.charge(made, 1).then(({ isAccepted }) => isAccepted)
  await expect.poll(() => charged().catch(() => false)).toBe(true)
  expect((await rates.admit(made)).isAdmitted).toBe(true)
  await meter.close()
  await pool.end()
  await proxy.stop()
  await postgres.drop()
})

it('a store that does not answer is said to be unavailable, and soon', async () => {
  const redis = openLimitsRedis('redis://127.0.0.1:1')
  const pool = openPostgres('postgres://127.0.0.1:1/none', 'test', 1)
  const key = { id: 1, creditsPerMonth: 5, requestsPerMinute: 5 }
  const began = Date.now()
  await expect(createRateMeter(pool, { redis }).admit(key)).rejects.toThrow(UnavailableError)
  await expect(createRateMeter(pool).admit(key)).rejects.toThrow(UnavailableError)
  const meter = createCreditMeter(pool)
  await expect(meter.charge(key, 1)).rejects.toThrow(UnavailableError)
  await expect(meter.remaining(key)).rejects.toThrow(UnavailableError)
  expect(Date.now() - began).toBeLessThan(25_000)
  await meter.close()
  redis.disconnect()
  await pool.end()
})
