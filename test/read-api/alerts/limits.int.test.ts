import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type pg from 'pg'
import request from 'supertest'
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest'
import { openClickHouse } from '../../../db/clickhouse/client.ts'
import { createKey } from '../../../db/keys/keys.ts'
import { registry } from '../../../db/process/metrics.ts'
import { createWebhookBook } from '../../../db/webhooks/book.ts'
import { Feed } from '../../../read-api/feed/feed.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import * as w from '../world.ts'
import { delivering, mineBlock, paused, sampled, watch } from './watching.ts'

/** What many rules cost, what slow ones cost others, and what is kept for whoever does not take it. */

let api: ApiHarness
const world = w.makeWorld()
const last = { number: w.lastBlock(world).number, timestamp: w.lastBlock(world).timestamp }
const vault = w.USD_VAULT
const ofVault = { network: 'mainnet', vaultId: vault }
const pause = (isPaused = true) => mineBlock(api, last, paused(vault, isPaused))

beforeAll(async () => {
  api = await startApi()
  await w.seed(api, world)
})
afterAll(() => api?.stop())

/** How often ClickHouse was asked a question, by the metrics of this process. */
async function asked(query: string): Promise<number> {
  const metric = await registry.getSingleMetric('vaultlog_clickhouse_query_duration_seconds')?.get()
  const found = metric?.values.find(
    value =>
      (value as { metricName?: string }).metricName?.endsWith('_count') && value.labels['query'] === query,
  )
  return found?.value ?? 0
}

/** The same pool, and how often it was asked for retractions. */
function counting(pool: pg.Pool) {
  const count = { retractions: 0 }
  const counted = new Proxy(pool, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (name !== 'query') return typeof value === 'function' ? value.bind(target) : value
      return (text: unknown, values: unknown[] = []) => {
        if (values.some(one => Array.isArray(one) && one.includes('BlockRetracted'))) count.retractions++
        return (target.query as (...given: unknown[]) => unknown)(text, values)
      }
    },
  })
  return { count, counted }
}

it('a thousand rules over one vault ask once for each moment, and once for what was taken back', async () => {
  const { id: keyId } = await createKey(api.pool, { name: 'many', plan: 'unlimited' })
  const book = createWebhookBook(api.pool)
  const rules = Array.from({ length: 10 }, (_, i) => ({
    kind: 'tvl-outflow',
    ...ofVault,
    // Half of them are crossed as soon as half of the assets are gone.
    threshold: i < 5 ? `0.${i + 1}` : `0.8${i}`,
  }))
  const webhook = {
    keyId,
    url: 'http://127.0.0.1:1/',
    filter: { events: false },
    mode: 'instant',
    rules,
  } as const
  for (let i = 0; i < 100; i++)
    await book.create({ ...webhook, cursor: new Map() }, { webhooks: 100, rules: 1_000 })
  onTestFinished(() => api.pool.query('DELETE FROM webhook').then(() => {}))
  const { count, counted } = counting(api.pool)
  await mineBlock(api, last, sampled(world, vault, 100n))
  const before = await asked('alert_assets_a_day_ago')
  delivering(api, { feed: new Feed(counted) })
  const held = async () => {
    const { rows } = await api.pool.query(
      `SELECT state, count(*)::int FROM webhook_rule WHERE (seen->>'1')::bigint = (SELECT head FROM stream WHERE id = 1)
       GROUP BY state ORDER BY state`,
    )
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
  }
  const patience = { timeout: 30_000 }
  await expect.poll(held, patience).toEqual({ clear: 1_000 })
  expect((await asked('alert_assets_a_day_ago')) - before).toBe(1)
  expect(count.retractions).toBe(0)
  await mineBlock(api, last, sampled(world, vault, 45n))
  await expect.poll(held, patience).toEqual({ clear: 500, crossed: 500 })
  expect((await asked('alert_assets_a_day_ago')) - before).toBe(2)
  await mineBlock(api, last, sampled(world, vault, 44n))
  await expect.poll(held, patience).toEqual({ clear: 500, crossed: 500 })
  expect((await asked('alert_assets_a_day_ago')) - before).toBe(3)
  // Five hundred alerts stand open: whether their blocks still do is asked once.
  expect(count.retractions).toBe(1)
}, 120_000)

/** ClickHouse behind a door that holds one question until it is let go. */
async function heldClickHouse(query: string) {
  let letGo = () => {}
  const free = new Promise<void>(resolve => {
    letGo = resolve
  })
  const held = { count: 0, letGo }
  const server = createServer(async (incoming, response) => {
    if (incoming.url?.includes(`log_comment=${query}`)) {
      held.count++
      await free
    }
    const { method, headers } = incoming
    const onward = ask(new URL(incoming.url ?? '/', inject('clickhouseUrl')), { method, headers }, answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    // Whoever asked may be gone by now.
    onward.on('error', () => response.destroy())
    incoming.on('error', () => onward.destroy()).pipe(onward)
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const url = new URL(inject('clickhouseUrl'))
  url.port = String((server.address() as AddressInfo).port)
  const house = openClickHouse({ url: url.href, database: api.house.database })
  onTestFinished(async () => {
    letGo()
    await house.close()
    server.closeAllConnections()
    server.close()
  })
  return { clickhouse: house.client, held }
}

it('a figure that is not read within its time keeps no other rule waiting, and is read when it can be', async () => {
  const { clickhouse, held } = await heldClickHouse('alert_assets_a_day_ago')
  await mineBlock(api, last, sampled(world, vault, 100n), paused(vault, false))
  const hook = await watch(
    api,
    [
      { kind: 'tvl-outflow', ...ofVault, threshold: '0.9' },
      { kind: 'paused', ...ofVault },
    ],
    () => 200,
    { clickhouse, readMs: 1_000, restMs: 0 },
  )
  await expect.poll(() => held.count).toBeGreaterThan(0)
  await expect.poll(hook.states).toEqual(['unknown', 'clear'])
  await pause()
  await expect.poll(hook.told).toEqual(['2 alert.fired'])
  expect(await hook.states()).toEqual(['unknown', 'crossed'])
  held.letGo()
  await expect.poll(hook.states, { timeout: 20_000 }).toEqual(['clear', 'crossed'])
  await pause(false)
})

it('of what nobody takes so much is kept and no more, and what was dropped is counted', async () => {
  let status = 500
  const hook = await watch(api, [{ kind: 'paused', ...ofVault }], () => status, { mostWaiting: 3 })
  await expect.poll(hook.states).toEqual(['clear'])
  const waiting = async () =>
    (
      await api.pool.query<{ body: string }>(
        'SELECT body FROM webhook_message WHERE webhook_id = $1 ORDER BY number',
        [hook.id],
      )
    ).rows.map(({ body }) => JSON.parse(body))
  for (let i = 0; i < 3; i++) {
    await pause()
    await expect.poll(hook.states).toEqual(['crossed'])
    await pause(false)
    await expect.poll(hook.states).toEqual(['clear'])
  }
  const kept = await waiting()
  expect(kept.map(({ type }) => type)).toEqual(['alert.cleared', 'alert.fired', 'alert.cleared'])
  expect(kept.at(-1)).toMatchObject({ blockNumber: String(last.number) })
  expect(await hook.show()).toMatchObject({ alertsDropped: 3 })

  // What is too old is dropped even of a webhook that nobody delivers.
  await hook.stopDelivering()
  await api.pool.query(`UPDATE webhook SET disabled = 'for a test' WHERE id = $1`, [hook.id])
  await api.pool.query(
    `UPDATE webhook_message SET created_at = created_at - interval '8 days' WHERE number = (SELECT min(number) FROM webhook_message WHERE webhook_id = $1)`,
    [hook.id],
  )
  hook.deliverAgain()
  await expect.poll(hook.show).toMatchObject({ state: 'disabled', alertsDropped: 4 })
  expect(await waiting()).toEqual(kept.slice(1))
  status = 200
  hook.messages.length = 0
  await request(api.app)
    .post(`/beta/webhooks/${hook.id}/replay`)
    .set('x-api-key', api.apiKey)
    .send({ after: 'start' })
  await expect.poll(() => hook.messages).toEqual(kept.slice(1))
})

it('a key has so many rules and no more, in however many webhooks they are asked for', async () => {
  const { key } = await createKey(api.pool, { name: 'greedy', plan: 'unlimited' })
  const ask = (count: number) =>
    request(api.app)
      .post('/beta/webhooks')
      .set('x-api-key', key)
      .send({
        url: 'http://127.0.0.1:1/',
        rules: Array.from({ length: count }, () => ({ kind: 'paused', ...ofVault })),
      })
  const made = await Promise.all(Array.from({ length: 12 }, () => ask(9)))
  const refused = made.filter(({ status }) => status !== 200)
  expect(refused).toHaveLength(1)
  expect(refused[0]?.body).toMatchObject({
    statusCode: 422,
    message: expect.stringMatching(
      /^This key has 99 alert rules of the 100 that it may have in all its webhooks\. Leave some of these 9 out/,
    ),
  })
  expect((await ask(1)).status).toBe(200)
  expect((await ask(1)).status).toBe(422)
  expect((await ask(0)).status).toBe(200)
})
