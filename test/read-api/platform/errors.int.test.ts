import { request as rawRequest } from 'node:http'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openPostgres } from '../../../db/postgres.ts'
import { log } from '../../../db/process/log.ts'
import { createApp } from '../../../read-api/app.ts'
import { defineEndpoint } from '../../../read-api/http/endpoint.ts'
import { DependencyDownError } from '../../../read-api/http/errors.ts'
import { loadEndpoints } from '../../../read-api/http/load-endpoints.ts'
import { serve } from '../../../read-api/http/serve.ts'
import { ErrorBody } from '../../../read-api/http/shapes.ts'
import { z } from '../../../read-api/http/zod.ts'
import type { ApiHarness } from '../harness.ts'
import { startApi } from '../harness.ts'
import * as w from '../world.ts'
import type { Replica } from './replicas.ts'
import { startReplica } from './replicas.ts'

/** Signals that the endpoint below was given; aborted ones ended. */
const signals: AbortSignal[] = []
const sleep = defineEndpoint({
  tier: 'alpha',
  method: 'get',
  path: '/test/{how}',
  summary: 'Misbehaves',
  params: z.object({ how: z.string() }),
  response: z.object({}),
  example: { params: { how: 'sleep' } },
  cost: 7,
  cache: 'none',
  async handler({ params }, { signal }) {
    signals.push(signal)
    if (params.how === 'throw') throw new TypeError('secret detail')
    if (params.how === 'down') throw new DependencyDownError('The chain mainnet')
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    return {}
  },
})

let api: ApiHarness
let replica: Replica
const endpoints = [...(await loadEndpoints()), { endpoint: sleep, file: 'alpha/test/test.ts' }]

beforeAll(async () => {
  api = await startApi()
  await w.seed(api, w.makeWorld())
  replica = await startReplica(api, {
    endpoints,
    corsOrigins: ['https://app.example', 'https://other.example'],
    trustProxy: 1,
  })
})
afterAll(async () => {
  await replica?.stop()
  await api?.stop()
})

const ask = (path: string, init: RequestInit = {}, at = replica) =>
  fetch(`${at.url}${path}`, {
    ...init,
    redirect: 'manual',
    headers: { 'x-api-key': api.apiKey, ...(init.headers as Record<string, string>) },
  })

async function expectError(answer: Response, status: number, words: string | RegExp) {
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const body = ErrorBody.parse(await answer.json())
  expect(body.statusCode).toBe(status)
  expect(body.errorId).toBe(answer.headers.get('x-request-id'))
  expect(body.errorId).toMatch(/^[0-9a-f-]{36}$/)
  expect(body.message).toMatch(words)
}

describe('error bodies', () => {
  it.each(['/nothing', '/v2', '/v2/nothing', '/v3/vaults', '/v2/detailed-vaults/mainnet', '/favicon.ico'])(
    '404 for what is not there: %s',
    async path => expectError(await ask(path), 404, /There is no GET/),
  )

  it.each([
    ['POST', '/v2/vaults', 'GET, HEAD'],
    ['DELETE', `/v2/detailed-vaults/mainnet/${w.USD_VAULT}`, 'GET, HEAD'],
    ['GET', '/beta/advanced-analytics/mainnet/x', 'POST'],
  ])('405 for %s %s, with what is allowed', async (method, path, allowed) => {
    const answer = await ask(path, { method })
    expect(answer.headers.get('allow')).toBe(allowed)
    await expectError(answer, 405, allowed)
  })

  it('408 when our own deadline passes; the work is told, nothing is charged', async () => {
    const impatient = await startReplica(api, { endpoints, deadlineMs: 700 })
    const answer = await ask('/alpha/test/sleep', {}, impatient)
    expect(answer.headers.get('x-credits-used')).toBe('0')
    await expectError(answer, 408, /longer than 700 ms/)
    expect(signals.at(-1)?.aborted).toBe(true)
    await impatient.stop()
  })

  it('work is told when the caller has gone, and the log does not call that a failure', async () => {
    const lines = vi.spyOn(log, 'info')
    const failures = vi.spyOn(log, 'error')
    const gone = new AbortController()
    const before = signals.length
    const asked = ask('/alpha/test/sleep', { signal: gone.signal }).catch((error: Error) => error.name)
    await expect.poll(() => signals.length).toBeGreaterThan(before)
    gone.abort()
    expect(await asked).toBe('AbortError')
    // Before our own deadline, which would tell it too.
    await expect.poll(() => signals.at(-1)?.aborted, { timeout: 10_000 }).toBe(true)
    const route = '/alpha/test/{how}'
    await expect
      .poll(() => lines.mock.calls)
      .toContainEqual([expect.objectContaining({ route }), 'request abandoned'])
    expect(failures).not.toHaveBeenCalled()
    await ask('/alpha/test/throw')
    expect(failures).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ route }), 'request failed')
    vi.restoreAllMocks()
  })

  it('500 says nothing of the inside and names the request', async () => {
    const answer = await ask('/alpha/test/throw')
    const text = await answer.clone().text()
    expect(text).not.toMatch(/secret|TypeError|at /)
    await expectError(answer, 500, /errorId/)
  })

  it('503 says what is down and when to come back', async () => {
    const answer = await ask('/alpha/test/down')
    expect(answer.headers.get('retry-after')).toBe('5')
    await expectError(answer, 503, /The chain mainnet cannot be reached/)
  })

  it('503 when the database of keys is down', async () => {
    const pool = openPostgres('postgres://127.0.0.1:1/none', 'test', 1)
    const { createKeyVerifier } = await import('../../../db/keys/keys.ts')
    const serving = await serve(await createApp({ ...api.deps, verifyKey: createKeyVerifier(pool) }), {
      port: 0,
    })
    const answer = await fetch(`http://127.0.0.1:${serving.port}/v2/networks`, {
      headers: { 'x-api-key': `vl_${'x'.repeat(43)}` },
    })
    await expectError(answer, 503, /Postgres/)
    await serving.close()
    await pool.end()
  })

  const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    ask(`/beta/advanced-analytics/mainnet/${w.USD_VAULT}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })

  it.each(['{"select":', '[', 'null!', '"text"'])(
    '400 for a body that is not a JSON object: %s',
    async body => expectError(await post(body), 400, /JSON|body/),
  )
  it('413 for a body over the limit', async () =>
    expectError(await post(`{"select":{"a":"${'x'.repeat(120_000)}"}}`), 413, /100 kB/))
  it('400 for an encoding that is not one', async () =>
    expectError(await post('zz', { 'content-encoding': 'gzip' }), 400, /./))
  it('400 for a body in an unknown encoding', async () =>
    expectError(await post('zz', { 'content-encoding': 'zstd-nope' }), 400, /./))
  it('reads a body after the key and counts the request, as any other', async () => {
    const keyless = await post('{"select":', { 'x-api-key': '' })
    await expectError(keyless, 401, /x-api-key/)
    const keyed = await post('{"select":')
    expect(keyed.headers.get('x-credits-used')).toBe('0')
    expect(keyed.headers.get('ratelimit-limit')).toMatch(/^\d+$/)
    await expectError(keyed, 400, /JSON/)
  })
  it('does not look at a body that an endpoint has no use for', async () => {
    await expectError(await ask('/v2/vaults', { method: 'POST', body: '{"a":' }), 405, /GET, HEAD/)
    const answer = await new Promise<number | undefined>((resolve, reject) => {
      rawRequest(
        `${replica.url}/v2/networks`,
        { headers: { 'x-api-key': api.apiKey, 'content-length': 5, 'content-type': 'application/json' } },
        response => resolve(response.resume().statusCode),
      )
        .on('error', reject)
        .end('{"a":')
    })
    expect(answer).toBe(200)
  })
  it('refuses an unknown parameter wherever it stands, also as the 1,001st', async () => {
    const known = Array.from({ length: 1_000 }, (_, i) => `tags=${i}`).join('&')
    await expectError(await ask(`/v2/detailed-vaults?${known}&tag=x`), 400, /"tag".*Did you mean "tags"/)
    const all = await ask(`/v2/detailed-vaults?${known}&tags=core`)
    expect(((await all.json()) as { itemsOnPage: number }).itemsOnPage).toBe(1)
  })
  it('says of every answer what it cost, whoever asked', async () => {
    for (const [path, init] of [
      ['/v2/health', {}],
      ['/v2/documentation/json', {}],
      ['/v2/nothing', {}],
      ['/v2/networks', { method: 'DELETE' }],
      ['/v2/networks', { headers: { 'x-api-key': '' } }],
      ['/experimental/x', {}],
    ] as const)
      expect((await ask(path, init)).headers.get('x-credits-used'), path).toBe('0')
  })
  it('400 for an escape that is none', async () => expectError(await ask('/v2/%zz/x'), 404, /./))
  it('401 without a key, before anything else is said of the request', async () =>
    expectError(await fetch(`${replica.url}/v2/vaults?nope=1`), 401, /x-api-key/))
})

describe('redirects', () => {
  it.each([
    ['/experimental/x/y?a=1&b=%20', '/alpha/x/y?a=1&b=%20'],
    ['/experimental', '/alpha'],
    ['/experimental/svm/vaults?page=1', '/beta/svm/vaults?page=1'],
    ['/alpha/svm/detailed-vaults?page=1', '/beta/svm/detailed-vaults?page=1'],
    ['/alpha/svm/positions/x?apyInterval=1day', '/beta/svm/portfolio/positions/x?apyInterval=1day'],
    ['/experimental/svm/positions/x', '/beta/svm/portfolio/positions/x'],
    ['/experimental?x=1', '/alpha?x=1'],
    [`/experimental/historical/eip155%3A1/${w.USD_VAULT}/daily-flows?fromDate=2025-01-01`, undefined],
    ['/alpha/borrow/markets/?page=1&allowedNetworks=a&allowedNetworks=b', undefined],
    ['/alpha/borrow/portfolio/positions/0x1', undefined],
    ['/alpha/nrt/vault/mainnet/0x1', '/v2/nrt/vault/mainnet/0x1'],
    ['/beta/nrt/vault/mainnet/0x1?x', '/v2/nrt/vault/mainnet/0x1?x'],
  ])('308 from %s', async (from, to) => {
    const expected = to ?? from.replace('/experimental', '/alpha').replace(/^\/alpha\/borrow/, '/beta/borrow')
    for (const method of ['GET', 'POST']) {
      const answer = await fetch(`${replica.url}${from}`, { method, redirect: 'manual' })
      expect(answer.status).toBe(308)
      expect(answer.headers.get('location')).toBe(expected)
    }
  })

  it('never leads to another host', async () => {
    for (const path of [
      '/experimental//evil.example',
      '/experimental/%2F%2Fevil.example',
      '/alpha/borrow//evil.example',
    ]) {
      const answer = await fetch(`${replica.url}${path}`, { redirect: 'manual' })
      const target = new URL(answer.headers.get('location') ?? '/', replica.url)
      expect(target.origin).toBe(replica.url)
    }
  })

  it('leaves alone what is still served, and what only begins alike', async () => {
    const served = await ask(`/alpha/advanced-analytics/mainnet/${w.USD_VAULT}`, { method: 'POST' })
    expect(served.status).toBe(200)
    expect((await ask('/experimentally')).status).toBe(404)
    expect((await ask('/alpha/borrowed')).status).toBe(404)
  })

  it('carries a whole request through', async () => {
    const answer = await fetch(
      `${replica.url}/experimental/historical/mainnet/${w.USD_VAULT}/daily-flows?fromDate=2025-01-01&toDate=2025-01-08`,
      { headers: { 'x-api-key': api.apiKey } },
    )
    expect(answer.status).toBe(200)
    expect(answer.url).toContain('/alpha/historical/')
  })
})

describe('around a request', () => {
  it('lets the browsers of named origins ask, and shows them our headers', async () => {
    const answer = await ask('/v2/networks', { headers: { origin: 'https://app.example' } })
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example')
    expect(answer.headers.get('vary')).toMatch(/origin/i)
    const exposed = answer.headers.get('access-control-expose-headers') ?? ''
    for (const name of [
      'x-credits-used',
      'x-request-id',
      'ratelimit',
      'retry-after',
      'etag',
      'payment-required',
    ])
      expect(exposed).toContain(name)
    const stranger = await ask('/v2/networks', { headers: { origin: 'https://evil.example' } })
    expect(stranger.headers.get('access-control-allow-origin')).toBeNull()
    const before = await fetch(`${replica.url}/v2/networks`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://other.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-api-key',
      },
    })
    expect(before.status).toBe(204)
    expect(before.headers.get('access-control-allow-headers')).toBe('x-api-key')
  })

  it('shows errors to browsers too', async () => {
    const answer = await fetch(`${replica.url}/v2/networks`, { headers: { origin: 'https://app.example' } })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
      401,
      'https://app.example',
    ])
  })

  it('sends the headers of helmet, and does not say what it is made with', async () => {
    const { headers } = await ask('/v2/networks')
    expect(headers.get('x-powered-by')).toBeNull()
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toContain("default-src 'self'")
  })

  it.each(['gzip', 'br'])('compresses what is large with %s', async encoding => {
    const plain = await (await ask('/v2/detailed-vaults?perPage=50')).text()
    const { bytes, text } = await new Promise<{ bytes: number; text: string }>((resolve, reject) => {
      rawRequest(
        `${replica.url}/v2/detailed-vaults?perPage=50`,
        { headers: { 'x-api-key': api.apiKey, 'accept-encoding': encoding } },
        response => {
          expect(response.headers['content-encoding']).toBe(encoding)
          let bytes = 0
          const parts: Buffer[] = []
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length
          })
          const unpack = encoding === 'gzip' ? createGunzip() : createBrotliDecompress()
          response
            .pipe(unpack)
            .on('data', (chunk: Buffer) => parts.push(chunk))
            .on('end', () => resolve({ bytes, text: Buffer.concat(parts).toString() }))
            .on('error', reject)
        },
      ).end()
    })
    expect(text).toBe(plain)
    expect(bytes).toBeLessThan(plain.length / 2)
  })

  it('answers HEAD as GET without the body', async () => {
    const answer = await ask('/v2/networks', { method: 'HEAD' })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe('')
    expect(answer.headers.get('x-credits-used')).toBe('1')
  })
})
