import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, revokeKey } from '../../../db/keys/keys.ts'
import { openQueueBackend, type QueueBackend } from '../../../db/queues.ts'
import { QUEUE } from '../../../db/wake-ups.ts'
import { createOps } from '../../../read-api/ops/router.ts'
import type { ApiHarness } from '../harness.ts'
import { startApi } from '../harness.ts'
import type { Replica } from './replicas.ts'
import { startReplica } from './replicas.ts'

let api: ApiHarness
let replica: Replica
let backend: QueueBackend
let queue: ReturnType<QueueBackend['createQueue']>
let admin: string

beforeAll(async () => {
  api = await startApi()
  backend = openQueueBackend({ databaseUrl: api.databaseUrl })
  queue = backend.createQueue(QUEUE)
  await queue.addBulk(
    ['a', 'b', 'c'].map(name => ({ name, data: { name }, opts: { delay: name === 'c' ? 3_600_000 : 0 } })),
  )
  admin = (await createKey(api.pool, { name: 'operator', plan: 'unlimited', admin: true })).key
  replica = await startReplica(api, { ops: createOps({ queue, verifyKey: api.deps.verifyKey }) })
})
afterAll(async () => {
  await replica?.stop()
  await backend?.close()
  await api?.stop()
})

const basic = (key: string, user = 'operator') => ({
  authorization: `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`,
})
const get = (path: string, headers: Record<string, string> = { 'x-api-key': admin }, method = 'GET') =>
  fetch(`${replica.url}${path}`, { headers, method, redirect: 'manual' })

const PAGES = ['/ops/queues', '/ops/queues/api/queues', '/ops/queues/static/favicon-32x32.png']

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
