import { request } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { log } from '../../../db/process/log.ts'
import { registry } from '../../../db/process/metrics.ts'
import type { ApiHarness } from '../harness.ts'
import { startApi } from '../harness.ts'
import * as w from '../world.ts'
import type { Replica } from './replicas.ts'
import { startReplica } from './replicas.ts'

let api: ApiHarness
let one: Replica
let other: Replica

beforeAll(async () => {
  api = await startApi()
  await w.seed(api, w.makeWorld())
  one = await startReplica(api)
  other = await startReplica(api)
})
afterAll(async () => {
  await one?.stop()
  await other?.stop()
  await api?.stop()
})

const get = (path: string, tag?: string, replica: Replica = one) =>
  fetch(`${replica.url}${path}`, {
    headers: { 'x-api-key': api.apiKey, ...(tag ? { 'if-none-match': tag } : {}) },
  })
const tagOf = async (path: string) => {
  const answer = await get(path)
  expect(answer.status).toBe(200)
  await answer.arrayBuffer()
  return answer.headers.get('etag') ?? ''
}

/** As a client that says nothing beside: fetch adds a cache-control to whatever is conditional. */
const getPlainly = (path: string, tag: string) =>
  new Promise<{ status: number | undefined; length: number; used: unknown }>((resolve, reject) => {
    const headers = { 'x-api-key': api.apiKey, 'if-none-match': tag }
    request(`${one.url}${path}`, { headers }, answer => {
      let length = 0
      answer.on('data', (chunk: Buffer) => {
        length += chunk.length
      })
      answer.on('end', () =>
        resolve({ status: answer.statusCode, length, used: answer.headers['x-credits-used'] }),
      )
    })
      .on('error', reject)
      .end()
  })

const vault = `/v2/detailed-vaults/mainnet/${w.USD_VAULT}`
const list = '/v2/detailed-vaults?perPage=10'

describe('an answer that is at hand', () => {
  const own = /^(x-request-id|date|x-credits-remaining|ratelimit.*|content-length|transfer-encoding)$/
  const asked = async (path: string, encoding: string, key = api.apiKey) => {
    const answer = await fetch(`${one.url}${path}`, {
      headers: { 'x-api-key': key, 'accept-encoding': encoding },
    })
    const headers = [...answer.headers].filter(([name]) => !own.test(name)).sort()
    return { answer, status: answer.status, headers, text: await answer.text() }
  }

  it.each([
    ['/v2/detailed-vaults?perPage=9&sortBy=apy7day', 'identity'],
    ['/v2/detailed-vaults?perPage=9&sortBy=apy7day', 'gzip'],
    ['/v2/detailed-vaults?perPage=9&sortBy=apy7day', 'br, gzip;q=0.5'],
    [`/v2/historical/mainnet/${w.USD_VAULT}?perPage=7`, 'identity'],
  ])('goes out as it was made, for its price: %s, %s', async (path, encoding) => {
    const query = `${path}&page=0`.replace('page=0', `page=${encoding.length % 2}`)
    const [made, again] = [await asked(query, encoding), await asked(query, encoding)]
    expect(made.status).toBe(200)
    expect(again.headers).toEqual(made.headers)
    expect(again.text).toBe(made.text)
    expect(again.answer.headers.get('x-request-id')).not.toBe(made.answer.headers.get('x-request-id'))
    const left = ({ answer }: typeof made) => Number(answer.headers.get('x-credits-remaining'))
    expect(left(made) - left(again)).toBe(Number(made.answer.headers.get('x-credits-used')))
    expect(left(again)).toBeLessThan(left(made))
  })

  it('is logged and measured like one that was made, and so is its refusal', async () => {
    const lines = vi.spyOn(log, 'info')
    const measured = async () => {
      const metric = await registry.getSingleMetric('vaultlog_http_request_duration_seconds')?.get()
      const counts = (metric?.values ?? []) as { metricName?: string; labels: object; value: number }[]
      return counts.filter(({ metricName }) => metricName?.endsWith('_count'))
    }
    const count = async (labels: object) =>
      (await measured()).find(each => JSON.stringify(each.labels) === JSON.stringify(labels))?.value ?? 0
    const labels = { route: '/v2/detailed-vaults', method: 'GET', status: 200 }
    const before = await count(labels)
    const path = '/v2/detailed-vaults?perPage=8'
    const answers = [await asked(path, 'identity'), await asked(path, 'identity')]
    answers.push(await asked(path, 'identity', 'vl_nobody'))
    const ids = answers.map(({ answer }) => answer.headers.get('x-request-id'))
    const logged = () =>
      ids.map(id => {
        const [line] =
          lines.mock.calls.find(([each]) => (each as { requestId?: string })?.requestId === id) ?? []
        return line as unknown as Record<string, unknown> | undefined
      })
    await expect.poll(logged).not.toContain(undefined)
    const [made, again, refused] = logged().map(line => ({ ...line, ms: typeof line?.['ms'], requestId: '' }))
    expect(made).toMatchObject({ path: '/v2/detailed-vaults', route: '/v2/detailed-vaults', status: 200 })
    expect(again).toEqual(made)
    expect(refused).toEqual({ ...made, status: 401, key: undefined })
    expect(await count(labels)).toBe(before + 2)
    lines.mockRestore()
  })

  it('is forgotten with the catalogue that it was made of', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const gone = new WeakRef(api.deps.catalogue.current())
    for (const replica of [one, other]) await (await get(`${list}&page=3`, undefined, replica)).text()
    await api.recordFacts([{ subject: 'z', kind: 'y', value: {} }], w.START - 1)
    await api.catchUp()
    for (const replica of [one, other]) await (await get(`${list}&page=4`, undefined, replica)).text()
    await expect
      .poll(() => {
        collect()
        return gone.deref() === undefined
      })
      .toBe(true)
  })

  it('outlives moves of other chains, and falls when its own moves', async () => {
    const query = vi.spyOn(api.clickhouse, 'query')
    const made = async () => {
      const before = query.mock.calls.length
      const answer = await asked(`/v2/historical/mainnet/${w.USD_VAULT}?perPage=11`, 'identity')
      expect(answer.status).toBe(200)
      return query.mock.calls.length > before
    }
    const move = async (chainId: number, name: string) => {
      const { blockNumber = 0, blockTime = w.START } = api.deps.catalogue.current().chain(chainId) ?? {}
      const hash = `0x${(blockNumber + 1).toString(16).padStart(64, '0')}`
      const block = { number: blockNumber + 1, hash, timestamp: blockTime + 1 }
      const data = { account: `0x${'7'.repeat(40)}` }
      const event = { contract: `0x${'8'.repeat(40)}`, protocol: 'erc-4626', logIndex: 1 } as const
      await api.append(chainId, name, [
        { block, events: [{ ...event, type: 'Paused', data, transactionHash: `0x${'9'.repeat(64)}` }] },
      ])
      await api.catchUp()
    }
    expect(await made()).toBe(true)
    expect(await made()).toBe(false)
    await move(10, 'optimism')
    expect(await made()).toBe(false)
    await move(1, 'mainnet')
    expect(await made()).toBe(true)
    query.mockRestore()
  })

  it('is for keys only', async () => {
    await asked(list, 'identity')
    const refused = await asked(list, 'identity', 'vl_nobody')
    expect(refused.status).toBe(401)
    expect(refused.answer.headers.get('cache-control')).toBe('no-store')
    expect(refused.answer.headers.get('x-as-of-block')).toBeNull()
    expect(refused.answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(refused.text).toContain('not known')
  })
})

describe('conditional requests', () => {
  it.each([
    [list],
    [vault],
    [`/v2/historical/mainnet/${w.USD_VAULT}?perPage=20`],
    ['/v2/tags'],
    ['/v2/networks'],
  ])('%s is not sent twice, and costs one credit then', async path => {
    const first = await get(path)
    const tag = first.headers.get('etag') ?? ''
    expect(tag).toMatch(/^W\/"[^"]+"$/)
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    const again = await get(path, tag)
    expect(again.status).toBe(304)
    expect(await again.text()).toBe('')
    expect(again.headers.get('etag')).toBe(tag)
    expect(again.headers.get('x-as-of-block')).toBe(first.headers.get('x-as-of-block'))
    expect(again.headers.get('x-credits-used')).toBe('1')
    const among = await get(path, `"something", ${tag} , W/"else"`)
    expect(among.status).toBe(304)
    const anything = await get(path, '*')
    expect([anything.status, anything.headers.get('x-credits-used')]).toEqual([304, '1'])
  })

  it('another process sees that the answer is the same', async () => {
    expect((await get(vault, await tagOf(vault), other)).status).toBe(304)
  })

  it.each([
    ['made up', 'W/"a.b.c"'],
    ['of one part', '"x"'],
    ['no tag', 'nonsense'],
    ['endless', `W/"1.${'x'.repeat(5_000)}.y"`],
  ])('a tag that is not ours is no reason: %s', async (_, tag) => {
    expect((await get(vault, tag)).status).toBe(200)
    const plainly = await getPlainly(vault, tag)
    expect(plainly).toMatchObject({ status: 200, used: '3' })
    expect(plainly.length).toBeGreaterThan(500)
    expect((await getPlainly('/v2/health', tag)).status).toBe(200)
  })

  it('a tag of another address is no reason', async () => {
    const tag = await tagOf(vault)
    expect((await get(`/v2/detailed-vaults/mainnet/${w.ETH_VAULT}`, tag)).status).toBe(200)
  })

  it('a wrong request stays wrong', async () => {
    expect((await get(`${vault}?x=1`, await tagOf(vault))).status).toBe(400)
  })

  it('health and what was posted have no tag and are not kept', async () => {
    const health = await get('/v2/health')
    expect(health.headers.get('etag')).toBeNull()
    expect(health.headers.get('cache-control')).toBe('no-store')
    const posted = await fetch(`${one.url}/beta/advanced-analytics/mainnet/${w.USD_VAULT}`, {
      method: 'POST',
      headers: { 'x-api-key': api.apiKey, 'content-type': 'application/json' },
      body: '{"select":{"maxDrawdown":true}}',
    })
    expect(posted.headers.get('etag')).toBeNull()
  })

  it('an error has no tag', async () => {
    const answer = await get('/v2/detailed-vaults/mainnet/nobody')
    expect(answer.headers.get('etag')).toBeNull()
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  it('falls when the chain of the answer moves, holds when another moves', async () => {
    const before = {
      vault: await tagOf(vault),
      list: await tagOf(list),
      networks: await tagOf('/v2/networks'),
    }
    await api.recordFacts([{ subject: 'x', kind: 'y', value: {} }], w.START)
    await api.catchUp()
    // The registry moved, the bodies did not: made again, found equal, not sent.
    const same = await get(vault, before.vault)
    expect(same.status).toBe(304)
    expect(same.headers.get('etag')).not.toBe(before.vault)

    await api.recordFacts(
      [{ subject: `vault:1:${w.USD_VAULT}`, kind: 'tags', value: ['fresh-tag'] }],
      w.START + 1,
    )
    await api.catchUp()
    const changed = await get(vault, before.vault)
    expect(changed.status).toBe(200)
    expect(((await changed.json()) as { tags: string[] }).tags).toEqual(['fresh-tag'])
    expect((await get(list, before.list)).status).toBe(200)
    expect((await get('/v2/networks', before.networks)).status).toBe(304)
  })
})
