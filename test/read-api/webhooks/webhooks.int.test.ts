import { Webhook as Verifier } from 'standardwebhooks'
import request from 'supertest'
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createKey, definePlan, revokeKey } from '../../../db/keys/keys.ts'
import { createWebhookBook } from '../../../db/webhooks/book.ts'
import { Feed } from '../../../read-api/feed/feed.ts'
import { Deliveries, type DeliveriesOptions } from '../../../read-api/webhooks/deliveries.ts'
import { seededRandom } from '../../chain/random.ts'
import { RandomChain, vaultOf, walletOf } from '../feed/history.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import { type Received, receive } from './receiver.ts'

let api: ApiHarness
let mainnet: RandomChain
let deliveries: Deliveries | undefined

beforeAll(async () => {
  api = await startApi()
  const random = seededRandom(Number(process.env['TEST_SEED'] ?? 26))
  mainnet = new RandomChain(api.pool, { id: 1, name: 'mainnet' }, random)
  await mainnet.register()
  for (let i = 0; i < 60; i++) await mainnet.grow()
})
afterEach(async () => {
  await deliveries?.stop()
  deliveries = undefined
  await api.pool.query('DELETE FROM webhook')
})
afterAll(() => api?.stop())

function begin(options: Partial<DeliveriesOptions> = {}): Deliveries {
  const feed = new Feed(api.pool)
  onTestFinished(() => feed.stop())
  const begun = new Deliveries({
    pool: api.pool,
    feed,
    poster: api.deps.webhooks.poster,
    credits: api.deps.credits,
    sweepMs: 20,
    retryMs: 5,
    longestRetryMs: 50,
    ...options,
  })
  begun.start()
  return begun
}

const ask = {
  async make(body: object, key = api.apiKey, status = 200) {
    const made = await request(api.app).post('/beta/webhooks').set('x-api-key', key).send(body)
    expect(made.status, made.text).toBe(status)
    return made.body
  },
  async get(id: string, key = api.apiKey) {
    return (await request(api.app).get(`/beta/webhooks/${id}`).set('x-api-key', key)).body
  },
  async post(path: string, body: object = {}) {
    return request(api.app).post(`/beta/webhooks/${path}`).set('x-api-key', api.apiKey).send(body)
  },
}

/** Keeps what arrives. */
async function keeping(answer: (received: Received, count: number) => number | Promise<number> = () => 200) {
  const received: Received[] = []
  const receiver = await receive(one => {
    received.push(one)
    return answer(one, received.length)
  })
  onTestFinished(() => receiver.close())
  return { url: receiver.url, received, messages: () => received.map(({ body }) => JSON.parse(body)) }
}

/** The same events by pages of JSON. */
async function pages(query: string) {
  const { body } = await request(api.app)
    .get(`/beta/feed?after=start&perPage=1000&${query}`)
    .set('x-api-key', api.apiKey)
  return body.messages
}

it('delivers what the feed has, filtered as the feed is, and says how far', async () => {
  const { url, received, messages } = await keeping()
  const filter = {
    networks: ['mainnet'],
    vaults: [vaultOf(0)],
    wallets: [walletOf(1)],
    types: ['ShareTransferred'],
  }
  const made = await ask.make({ url, ...filter, after: 'start' })
  expect(made).toMatchObject({
    state: 'active',
    networks: ['mainnet'],
    types: ['ShareTransferred'],
    delivered: 0,
  })
  expect(made.secret).toMatch(/^whsec_/)
  deliveries = begin()
  const expected = await pages(
    `networks=mainnet&vaults=${vaultOf(0)}&wallets=${walletOf(1)}&types=ShareTransferred`,
  )
  expect(expected.length).toBeGreaterThan(20)
  await expect.poll(messages).toEqual(expected)
  const verifier = new Verifier(made.secret)
  for (const { body, headers } of received) verifier.verify(body, headers as Record<string, string>)
  expect(received.map(({ headers }) => headers['webhook-id'])).toEqual(
    expected.map(({ position }: { position: number }) => `${made.id}_1_${position}`),
  )
  await expect.poll(async () => (await ask.get(made.id)).delivered).toBe(expected.length)
  const { secret, ...shown } = await ask.get(made.id)
  expect(secret).toBeUndefined()
  const head = (await api.deps.feed.look()).get(1)?.head ?? 0
  const { position } = expected.at(-1)
  expect(shown).toMatchObject({ after: `1.${position}`, behind: head - position, failures: 0 })
  // From now on where nothing says otherwise.
  const now = await keeping()
  await ask.make({ url: now.url })
  const before = (await api.deps.feed.look()).get(1)?.head ?? 0
  while ((await api.deps.feed.look()).get(1)?.head === before) await mainnet.grow()
  await expect.poll(() => now.messages()[0]?.position).toBe(before + 1)
})

it('is of its key: others neither see, delete nor replay it', async () => {
  const { url } = await keeping()
  const { id } = await ask.make({ url })
  const { key } = await createKey(api.pool, { name: 'other' })
  const as = { 'x-api-key': key }
  const path = `/beta/webhooks/${id}`
  expect((await request(api.app).get('/beta/webhooks').set(as)).body).toEqual({ data: [] })
  for (const asked of [
    request(api.app).get(path),
    request(api.app).delete(path),
    request(api.app).post(`${path}/test`).send({}),
    request(api.app).post(`${path}/replay`).send({ after: 'start' }),
    request(api.app).post(`${path}/rotate`).send({}),
  ])
    expect((await asked.set(as)).status).toBe(404)
  expect((await request(api.app).get('/beta/webhooks').set('x-api-key', api.apiKey)).body.data).toHaveLength(
    1,
  )
  expect((await request(api.app).put(path).set(as)).headers['allow']).toBe('DELETE, GET, HEAD')
  expect((await request(api.app).delete(path).set('x-api-key', api.apiKey)).body).toEqual({ id })
  expect((await ask.get(id)).statusCode).toBe(404)
})

it('a key has so many and no more, however many are asked for at once', async () => {
  const { url } = await keeping()
  const made = await Promise.all(
    Array.from({ length: 25 }, () =>
      request(api.app).post('/beta/webhooks').set('x-api-key', api.apiKey).send({ url }),
    ),
  )
  expect(made.filter(({ status }) => status === 200)).toHaveLength(20)
  expect(made.find(({ status }) => status !== 200)?.body).toMatchObject({
    statusCode: 422,
    message: expect.stringContaining('This key has 20 webhooks'),
  })
})

it.each([
  [{}, 400, /"url" is missing/],
  [{ url: 'example.com' }, 400, /"url" must be a URL/],
  [{ url: 'https://example.com/', network: 'mainnet' }, 400, /Unknown body key: "network"/],
  [{ url: 'https://example.com/', types: ['Deposit'] }, 400, /did you mean Deposited/],
  [{ url: 'https://example.com/', after: '1.99999999' }, 422, /ahead of what is stored/],
])('%j is refused with what would be right', async (body, status, message) => {
  expect((await ask.make(body, api.apiKey, status)).message).toMatch(message)
})

it('tries again after failures, and in order', async () => {
  const { url, messages } = await keeping((_, count) => (count % 3 === 0 ? 200 : 503))
  const { id } = await ask.make({ url, after: 'start', vaults: [vaultOf(1)], wallets: [walletOf(2)] })
  deliveries = begin()
  const expected = (await pages(`vaults=${vaultOf(1)}&wallets=${walletOf(2)}`)).map(
    ({ id }: { id: string }) => id,
  )
  await expect.poll(async () => (await ask.get(id)).delivered).toBe(expected.length)
  expect(messages().map(({ id }) => id)).toEqual(expected.flatMap((id: string) => [id, id, id]))
})

it('says that it fails, since when and why, waits ever longer, and goes on when it is asked to', async () => {
  let status = 500
  const times: number[] = []
  const { url, received } = await keeping(() => {
    times.push(performance.now())
    return status
  })
  const { id } = await ask.make({ url, after: 'start' })
  deliveries = begin({ retryMs: 40, longestRetryMs: 60_000 })
  await expect.poll(async () => (await ask.get(id)).failures).toBeGreaterThanOrEqual(4)
  const shown = await ask.get(id)
  expect(shown).toMatchObject({ state: 'failing', lastError: 'answered 500', delivered: 0 })
  expect(shown.nextAttemptAt).toBeGreaterThanOrEqual(shown.failingSince)
  const waits = times.slice(1, 4).map((time, i) => time - (times[i] ?? 0))
  for (const [i, wait] of waits.entries()) expect(wait).toBeGreaterThan(0.85 * 40 * 2 ** i)
  status = 200
  await ask.post(`${id}/replay`)
  await expect.poll(async () => (await ask.get(id)).delivered).toBeGreaterThan(3)
  expect(JSON.parse(received.at(-1)?.body ?? '').position).toBeGreaterThan(1)
  expect((await ask.get(id)).state).toBe('active')
})

it('ends at 410, and after days of failures, and says so; a replay begins it anew', async () => {
  const gone = await keeping(() => 410)
  const failing = await keeping(() => 500)
  const { id } = await ask.make({ url: gone.url, after: 'start' })
  const other = await ask.make({ url: failing.url, after: 'start' })
  deliveries = begin({ giveUpMs: 100, longestRetryMs: 5 })
  await expect
    .poll(() => ask.get(id))
    .toMatchObject({ state: 'disabled', reason: expect.stringContaining('410'), after: 'start' })
  expect(gone.received).toHaveLength(1)
  await expect
    .poll(() => ask.get(other.id))
    .toMatchObject({
      state: 'disabled',
      reason: expect.stringMatching(/^Every attempt has failed since .*; the last one: answered 500\.$/),
    })
  // Days alone do not do it: a machine may have slept through them.
  const count = failing.received.length
  expect(count).toBeGreaterThanOrEqual(100)
  await new Promise(resolve => setTimeout(resolve, 200))
  expect(failing.received).toHaveLength(count)
  expect((await ask.post(`${id}/replay`, { after: '1.5' })).body).toMatchObject({
    state: 'active',
    after: '1.5',
  })
  await expect.poll(() => gone.messages().map(({ position }) => position)).toEqual([1, 6])
})

it('does not wait for a time that a clock has set which was put back since', async () => {
  const { url, messages } = await keeping()
  const { id } = await ask.make({ url, after: 'start' })
  await api.pool.query(
    `UPDATE webhook SET retry_at = clock_timestamp() + interval '1 day', failures = 3 WHERE id = $1`,
    [id],
  )
  deliveries = begin()
  await expect.poll(() => messages()[0]?.position).toBe(1)
})

it('signs by the old secret and by the new one for a while, and at once by the new one alone where that is asked for', async () => {
  const { url, received } = await keeping()
  const { id, secret: first } = await ask.make({ url, after: 'start', vaults: [vaultOf(0)] })
  deliveries = begin({ retryMs: 5 })
  const takes = (secret: string) => {
    try {
      const { body = '', headers = {} } = received.at(-1) ?? {}
      return new Verifier(secret).verify(body, headers as Record<string, string>) !== undefined
    } catch {
      return false
    }
  }
  /** Settles once what is sent verifies by these secrets and not by those. */
  const verifies = async (by: string[], not: string[] = []) => {
    await ask.post(`${id}/replay`, { after: 'start' })
    await expect
      .poll(() => [by.map(takes), not.map(takes)])
      .toEqual([by.map(() => true), not.map(() => false)])
  }
  await verifies([first])
  const second = (await ask.post(`${id}/rotate`)).body
  expect(second.secret).toMatch(/^whsec_/)
  expect(second).toMatchObject({ id, url })
  const inADay = Date.now() / 1000 + 86_400
  expect(Math.abs(second.oldSecretsUntil - inADay)).toBeLessThan(60)
  await verifies([first, second.secret])
  const { secret: shown, oldSecretsUntil } = await ask.get(id)
  expect([shown, oldSecretsUntil]).toEqual([undefined, second.oldSecretsUntil])
  // One whose answer was lost is asked for again: what receivers have still signs.
  const third = (await ask.post(`${id}/rotate`, { overlapHours: 1 })).body
  await verifies([first, second.secret, third.secret])
  await api.pool.query('UPDATE webhook_old_secret SET until = clock_timestamp() WHERE secret = $1', [first])
  await verifies([second.secret, third.secret], [first])
  const fourth = (await ask.post(`${id}/rotate`, { overlapHours: 0 })).body
  expect(fourth.oldSecretsUntil).toBeUndefined()
  await verifies([fourth.secret], [first, second.secret, third.secret])
  for (let i = 0; i < 6; i++) await ask.post(`${id}/rotate`, { overlapHours: 168 })
  const { rowCount } = await api.pool.query('SELECT FROM webhook_old_secret WHERE webhook_id = $1', [id])
  expect(rowCount).toBe(4)
  expect((await ask.post(`${id}/rotate`, { overlapHours: 1.5 })).body.message).toMatch(
    /"overlapHours" must be a whole number/,
  )
})

it('a replay from the beginning sends all again, by the same ids', async () => {
  const { url, received } = await keeping()
  const { id } = await ask.make({ url, after: 'start', mode: 'finalized', vaults: [vaultOf(2)] })
  deliveries = begin()
  const expected = (await pages(`mode=finalized&vaults=${vaultOf(2)}`)).length
  await expect.poll(() => received.length).toBe(expected)
  await ask.post(`${id}/replay`, { after: 'start' })
  await expect.poll(() => received.length).toBe(2 * expected)
  const ids = received.map(({ headers }) => headers['webhook-id'])
  expect(ids.slice(expected)).toEqual(ids.slice(0, expected))
})

it('whoever is slow holds nobody else up', async () => {
  const slow = await keeping(() => new Promise(() => {}))
  const quick = await keeping()
  for (let i = 0; i < 15; i++) await ask.make({ url: slow.url, after: 'start' })
  await ask.make({ url: quick.url, after: 'start' })
  deliveries = begin()
  const head = (await api.deps.feed.look()).get(1)?.head ?? 0
  await expect.poll(() => quick.received.length, { timeout: 5_000 }).toBe(head)
  expect(slow.received).toHaveLength(15)
})

it('two processes deliver each message once between them, and one goes on where the other ends', async () => {
  const { url, messages } = await keeping(() => new Promise(resolve => setTimeout(resolve, 2, 200)))
  await ask.make({ url, after: 'start' })
  const first = begin()
  deliveries = begin()
  await expect.poll(() => messages().length).toBeGreaterThan(20)
  await first.stop()
  const head = (await api.deps.feed.look()).get(1)?.head ?? 0
  await expect.poll(() => messages().at(-1)?.position).toBe(head)
  const positions = messages().map(({ position }) => position)
  expect([...new Set(positions)]).toEqual(Array.from({ length: head }, (_, i) => i + 1))
  // What was under way when the first one ended came again.
  expect(positions.length - head).toBeLessThanOrEqual(1)
})

it('what was taken is not sent again because the database fails just then', async () => {
  const { url, messages } = await keeping(async (_, count) => {
    if (count !== 3) return 200
    await api.pool.query('ALTER TABLE webhook_cursor RENAME TO away')
    setTimeout(() => void api.pool.query('ALTER TABLE away RENAME TO webhook_cursor'), 1_500)
    return 200
  })
  await ask.make({ url, after: 'start' })
  deliveries = begin()
  const head = (await api.deps.feed.look()).get(1)?.head ?? 0
  await expect.poll(() => messages().at(-1)?.position).toBe(head)
  expect(messages().map(({ position }) => position)).toEqual(Array.from({ length: head }, (_, i) => i + 1))
})

it('begins where a replay says that is stored amid being taken', async () => {
  const { id } = await ask.make({ url: 'http://127.0.0.1:1/', after: 'start' })
  const replaying = await api.pool.connect()
  await replaying.query('BEGIN')
  await replaying.query('UPDATE webhook SET generation = generation + 1 WHERE id = $1', [id])
  const taking = createWebhookBook(api.pool).take(id)
  await expect
    .poll(async () => (await api.pool.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount)
    .toBeGreaterThan(0)
  await replaying.query('INSERT INTO webhook_cursor SELECT $1, 1, 7', [id])
  await replaying.query('COMMIT')
  replaying.release()
  expect(await taking).toMatchObject({ generation: 2, cursor: new Map([[1, 7]]) })
})

it('goes on, in order, when the connection that holds its locks is lost', async () => {
  const { url, messages } = await keeping(() => new Promise(resolve => setTimeout(resolve, 2, 200)))
  await ask.make({ url, after: 'start' })
  deliveries = begin()
  await expect.poll(() => messages().length).toBeGreaterThan(20)
  const { rowCount } = await api.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  )
  expect(rowCount).toBe(1)
  const head = (await api.deps.feed.look()).get(1)?.head ?? 0
  await expect.poll(() => messages().at(-1)?.position).toBe(head)
  const positions = messages().map(({ position }) => position)
  expect([...new Set(positions)]).toEqual(Array.from({ length: head }, (_, i) => i + 1))
})

it('a chain that cannot be read keeps no other waiting', async () => {
  const optimism = new RandomChain(api.pool, { id: 10, name: 'optimism' }, seededRandom(10))
  await optimism.register()
  for (let i = 0; i < 5; i++) await optimism.grow({ mayFork: false })
  // As if the store had lost its newest event.
  await api.pool.query('UPDATE stream SET head = head + 1 WHERE id = 1')
  onTestFinished(async () => {
    await api.pool.query('UPDATE stream SET head = head - 1 WHERE id = 1')
  })
  const { url, messages } = await keeping()
  await ask.make({ url, after: 'start' })
  deliveries = begin()
  const head = (await api.deps.feed.look()).get(10)?.head ?? 0
  expect(head).toBeGreaterThan(0)
  await expect.poll(() => messages().filter(({ network }) => network === 'optimism').length).toBe(head)
})

it('takes a credit for each 100 messages and waits without; a revoked key is sent nothing more', async () => {
  await definePlan(api.pool, { name: 'few', creditsPerMonth: 2, requestsPerMinute: 100 })
  const { key, code } = await createKey(api.pool, { name: 'few', plan: 'few' })
  const { url, received } = await keeping()
  // One for making it.
  const { id } = await ask.make({ url, after: 'start' }, key)
  deliveries = begin()
  await expect
    .poll(() => api.pool.query('SELECT last_error, failures FROM webhook').then(({ rows }) => rows[0]))
    .toEqual({ last_error: 'The key has no credits left this month.', failures: 0 })
  expect(received).toHaveLength(100)
  await definePlan(api.pool, { name: 'few', creditsPerMonth: 1_000, requestsPerMinute: 100 })
  await ask.post(`${id}/replay`).then(({ status }) => expect(status).toBe(404))
  // Its plan is known for some seconds.
  await expect
    .poll(
      async () => (await request(api.app).post(`/beta/webhooks/${id}/replay`).set('x-api-key', key)).status,
    )
    .toBe(200)
  await expect.poll(() => received.length).toBeGreaterThan(105)
  await revokeKey(api.pool, code)
  await new Promise(resolve => setTimeout(resolve, 200))
  const count = received.length
  await mainnet.grow({ mayFork: false })
  await mainnet.grow({ mayFork: false })
  await mainnet.grow({ mayFork: false })
  await new Promise(resolve => setTimeout(resolve, 200))
  expect(received).toHaveLength(count)
})

it('sends a test message, signed, and says what became of it', async () => {
  let status = 200
  const { url, received } = await keeping(() => status)
  const { id, secret } = await ask.make({ url })
  expect((await ask.post(`${id}/test`)).body).toEqual({ delivered: true, status: 200 })
  const [got] = received
  expect(new Verifier(secret).verify(got?.body ?? '', got?.headers as Record<string, string>)).toMatchObject({
    kind: 'test',
    type: 'webhook.test',
    data: { webhookId: id },
  })
  status = 302
  expect((await ask.post(`${id}/test`)).body).toEqual({
    delivered: false,
    status: 302,
    error: 'answered 302: redirects are not followed',
  })
  expect(await ask.get(id)).toMatchObject({ delivered: 0, failures: 0 })
})
