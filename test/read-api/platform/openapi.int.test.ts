import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { networkIds } from '../../../db/networks.ts'
import { type App, createApp } from '../../../read-api/app.ts'
import { openApiDocument } from '../../../read-api/http/documentation.ts'
import type { Endpoint, Tier } from '../../../read-api/http/endpoint.ts'
import { isPayable, tiersOf } from '../../../read-api/http/endpoint.ts'
import { loadEndpoints } from '../../../read-api/http/load-endpoints.ts'
import { serve } from '../../../read-api/http/serve.ts'
import type { ApiHarness } from '../harness.ts'
import { startApi } from '../harness.ts'

const endpoints = await loadEndpoints()
const tiers: Tier[] = ['v2', 'beta', 'alpha']
let api: ApiHarness
let app: App

beforeAll(async () => {
  api = await startApi()
  app = await createApp(api.deps, { publicUrl: 'https://api.example/vaults/' })
})
afterAll(() => api?.stop())

interface Layer {
  route?: { path: string; methods: Record<string, boolean>; stack: { method?: string }[] }
}

/** What Express serves below the tiers, as OpenAPI writes it: `get /v2/vaults`. */
function servedRoutes(): string[] {
  const { stack } = (app as unknown as { router: { stack: Layer[] } }).router
  return stack
    .flatMap(({ route }) =>
      // Routes for every method say that a method is not allowed; redirects are older paths.
      route && Object.keys(route.methods).length === 1
        ? Object.keys(route.methods).map(method => `${method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`)
        : [],
    )
    .filter(name => / \/(v2|beta|alpha)\//.test(name) && !name.includes('/documentation'))
}

describe('the OpenAPI documents', () => {
  it('name what is served, nothing more and nothing less', () => {
    const described = tiers.flatMap(tier =>
      Object.entries(openApiDocument(endpoints, tier).paths ?? {}).flatMap(([path, item]) =>
        Object.keys(item).map(method => `${method} ${path}`),
      ),
    )
    const redirects = endpoints
      .filter(({ endpoint }) => tiersOf(endpoint).includes('beta') && !tiersOf(endpoint).includes('alpha'))
      .map(({ endpoint }) => `${endpoint.method} /alpha${endpoint.path}`)
    expect(
      servedRoutes()
        .filter(name => !redirects.includes(name))
        .sort(),
    ).toEqual(described.sort())
    expect(new Set(described).size).toBe(described.length)
  })

  it.each(tiers)('%s: every reference leads somewhere, every operation has an id of its own', tier => {
    const document = openApiDocument(endpoints, tier, { publicUrl: 'https://api.example/vaults/' })
    const text = JSON.stringify(document)
    for (const [, reference] of text.matchAll(/"\$ref":"([^"]+)"/g)) {
      const found = (reference ?? '')
        .replace('#/', '')
        .split('/')
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document)
      expect(found, reference).toBeDefined()
    }
    const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(match => match[1])
    expect(new Set(ids).size).toBe(ids.length)
    expect(document.servers).toEqual([{ url: 'https://api.example/vaults' }])
    expect(document.components?.securitySchemes?.['apiKey']).toMatchObject({
      type: 'apiKey',
      in: 'header',
      name: 'x-api-key',
    })
  })

  const each = endpoints.flatMap(({ endpoint }) =>
    tiersOf(endpoint).map(tier => ({ name: `${endpoint.method} /${tier}${endpoint.path}`, tier, endpoint })),
  )

  it.each(each)('$name: security, errors and headers', ({ tier, endpoint }) => {
    const document = openApiDocument(endpoints, tier)
    const operation = document.paths?.[`/${tier}${endpoint.path}`]?.[endpoint.method]
    const responses = (operation?.responses ?? {}) as Record<string, { headers?: Record<string, unknown> }>
    const common = ['200', '400', '404', '405', '408', '422', '500', '503']
    const keyed = endpoint.access === 'open' ? [] : ['401', '403', '429']
    expect(Object.keys(responses)).toEqual(expect.arrayContaining([...common, ...keyed]))
    if (endpoint.access === 'open') {
      expect(operation?.security).toEqual([])
      expect(Object.keys(responses)).not.toContain('401')
      return
    }
    expect(operation?.security).toEqual([{ apiKey: [] }])
    expect(Object.keys(responses['200']?.headers ?? {})).toEqual(
      expect.arrayContaining(['x-request-id', 'x-credits-used', 'x-credits-remaining', 'ratelimit-limit']),
    )
    if (isPayable(endpoint)) {
      expect(Object.keys(responses['200']?.headers ?? {})).toContain('payment-response')
      expect(JSON.stringify(responses['402'])).toContain('#/components/schemas/PaymentRequired')
    }
    expect(Object.keys(responses['429']?.headers ?? {})).toContain('retry-after')
    expect(Object.keys(responses['503']?.headers ?? {})).toContain('retry-after')
  })
})

/** What `redocly lint --extends recommended` asks of a document; two of its rules the paths of the wire cannot keep. */
describe.each(tiers)('the document of %s, to a linter', tier => {
  const document = openApiDocument(endpoints, tier) as unknown as {
    info: { license?: { name?: string; identifier?: string } }
    tags: { name: string; description: string }[]
    servers: { url: string }[]
    paths: Record<string, Record<string, Record<string, unknown>>>
  }
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ where: `${method} ${path}`, operation })),
  )

  it('has a licence, servers, and tags that are described', () => {
    expect(document.info.license).toEqual({ name: 'GPL-3.0-or-later', identifier: 'GPL-3.0-or-later' })
    expect(document.servers.length).toBeGreaterThan(0)
    const known = new Map(document.tags.map(({ name, description }) => [name, description]))
    for (const { where, operation } of operations)
      for (const tag of operation['tags'] as string[])
        expect(known.get(tag), `${where}: ${tag}`).toMatch(/^[A-Z].+\.$/)
  })

  it('says of every operation who may ask, what it is, what it costs, and how it fails', () => {
    for (const { where, operation } of operations) {
      expect(operation['security'], where).toBeInstanceOf(Array)
      expect(operation['summary'], where).toMatch(/./)
      expect(operation['description'], where).toMatch(/(Costs .*\d|Free\.)/)
      const statuses = Object.keys(operation['responses'] as object)
      expect(
        statuses.some(status => /^4/.test(status)),
        where,
      ).toBe(true)
    }
  })
})

it('the cost in words is the cost that is charged', () => {
  const said = (tier: Tier, path: string) =>
    openApiDocument(endpoints, tier).paths?.[path]?.get?.description ?? ''
  expect(said('v2', '/v2/detailed-vaults')).toMatch(
    / Costs 1 credit and 3 for each item: 151 for a full page of 50\.$/,
  )
  expect(said('v2', '/v2/networks')).toBe('Costs 1 credit.')
  expect(said('v2', '/v2/health')).toBe('Free.')
  expect(said('alpha', '/alpha/historical/{network}/{vaultId}/daily-flows')).toContain(
    '101 for a full page of 100',
  )
  expect(said('beta', '/beta/borrow/markets/historical/{network}/{marketId}/{assetId}')).toContain(
    'Costs 3 credits and 3 for each item: 153 for a full page of 50.',
  )
  // A full page of what is asked for by itself never costs a month of the smallest plan.
  for (const { endpoint } of endpoints) {
    const perPage = endpoint.query?.shape['perPage']?.parse(undefined) as number | undefined
    if (perPage === undefined || typeof endpoint.cost === 'number') continue
    const request = { select: { maxDrawdown: true, detailedVault: true, composition: true } }
    expect(endpoint.cost({ body: undefined, items: perPage, request: request as never })).toBeLessThan(500)
  }
})

it('the formula of the score is in the document', () => {
  const text = JSON.stringify(openApiDocument(endpoints, 'v2').components?.schemas?.['Score'])
  for (const words of [
    '(protocolTvlScore + vaultTvlScore + holderScore + assetScore) × (1 − totalScorePenalty)',
    '40 × log(x / 1,000,000) / log(1,000,000,000,000,000 / 1,000,000)',
    '20 × log(x / 100,000)',
    '15 × log(x / 1)',
    '25 × log(x / 100,000) / log(10,000,000,000 / 100,000)',
    '0.5 for each flag of critical',
  ])
    expect(text).toContain(words)
})

describe('parameters', () => {
  const parametersOf = (tier: Tier, path: string) =>
    Object.fromEntries(
      (
        (openApiDocument(endpoints, tier).paths?.[path]?.get?.parameters ?? []) as {
          name: string
          schema: { default?: unknown; enum?: string[] }
        }[]
      ).map(({ name, schema }) => [name, schema]),
    )

  it('name every network and every default', () => {
    const vault = parametersOf('v2', '/v2/detailed-vaults/{network}/{vaultId}')
    expect(vault['network']?.enum).toEqual([
      ...networkIds.map(({ name }) => name),
      ...networkIds.map(({ networkCaip }) => networkCaip),
    ])
    const list = parametersOf('v2', '/v2/detailed-vaults')
    const advice = parametersOf('v2', '/v2/portfolio/best-deposit-options/{userAddress}')
    const defaults = (of: typeof list) =>
      Object.fromEntries(
        Object.entries(of).flatMap(([name, schema]) => ('default' in schema ? [[name, schema.default]] : [])),
      )
    const never = { onlyTransactional: false, onlyAppFeatured: false, allowCorrupted: false }
    expect(defaults(list)).toEqual({
      ...never,
      allowVaultsWithWarnings: true,
      sortBy: 'tvl',
      sortOrder: 'asc',
      page: 0,
      perPage: 50,
    })
    expect(defaults(parametersOf('v2', '/v2/portfolio/idle-assets/{userAddress}'))).toEqual({
      minUsdAssetValueThreshold: 0,
      sortBy: 'balanceUsd',
      sortDirection: 'asc',
    })
    expect(defaults(advice)).toEqual({
      ...never,
      allowUnlisted: false,
      allowVaultsWithWarnings: false,
      apyInterval: '7day',
      minUsdAssetValueThreshold: 0,
      maxVaultsPerAsset: 3,
    })
  })
})

describe('the page and the documents over HTTP', () => {
  let server: Awaited<ReturnType<typeof serve>>
  let url: string
  beforeAll(async () => {
    server = await serve(app, { port: 0, host: '127.0.0.1' })
    url = `http://127.0.0.1:${server.port}`
  })
  afterAll(() => server?.close())
  const at = (path: string, init: RequestInit = {}) => fetch(`${url}${path}`, { redirect: 'manual', ...init })

  it.each(tiers)('the document of %s is known by its tag until it changes', async tier => {
    const first = await request(app).get(`/${tier}/documentation/json`)
    expect(first.headers['cache-control']).toBe('no-cache')
    expect(first.body).toMatchObject({ openapi: '3.1.0', info: { version: tier } })
    const again = await request(app)
      .get(`/${tier}/documentation/json`)
      .set('if-none-match', first.headers['etag'] ?? '')
    expect([again.status, again.text]).toEqual([304, ''])
  })

  it.each(['/documentation', '/v2/documentation', '/beta/documentation/json'])(
    '%s takes GET and HEAD and nothing else',
    async path => {
      const answer = await at(path, { method: 'POST', body: 'x' })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
      const head = await at(path, { method: 'HEAD' })
      expect([200, 308]).toContain(head.status)
    },
  )

  it('name no address that a proxy, which takes a part of the path off, would not lead back here', async () => {
    const base = 'https://api.example/vaults'
    const page = await (await at('/documentation')).text()
    const named = [...page.matchAll(/(?:src|href)="([^"#]+)[^"]*"/g)]
      .map(match => match[1] ?? '')
      .filter(one => one !== '' && !one.startsWith('data:'))
    expect(named.length).toBeGreaterThan(6)
    for (const one of named) {
      const seen = new URL(one, `${base}/documentation`).href
      expect(seen.startsWith(`${base}/`), seen).toBe(true)
      expect((await at(seen.slice(base.length))).status, seen).toBe(200)
    }
    for (const path of ['/v2/documentation', '/alpha/documentation/', '/documentation/']) {
      const leads = new URL((await at(path)).headers.get('location') ?? '', `${base}${path}`)
      expect(leads.pathname).toBe('/vaults/documentation')
    }
  })
})

/** The table "Credits" of the API's description: path below the tier → cost of an answer with that many items. */
const one = () => 1
const PRICES: [path: RegExp, price: (items: number) => number][] = [
  [/^\/(vaults|assets|networks|tags|curators|protocols)$/, one],
  [/^\/detailed-vaults$/, items => 1 + 3 * items],
  [/^\/detailed-vaults\/[^/]+\/[^/]+$/, () => 3],
  [/^\/detailed-vaults\/[^/]+\/[^/]+\/(apy|tvl)$/, one],
  [/^\/historical\/\{network\}\/\{vaultId\}$/, items => 3 + 3 * items],
  [/^\/historical\/\{network\}\/\{vaultId\}\/(apy|tvl|sharePrice)$/, items => 1 + items],
  [/^\/historical\/asset-prices\//, items => 1 + items],
  [/^\/benchmarks\//, () => 3],
  [/^\/historical-benchmarks\//, items => 3 + 3 * items],
  [/^\/portfolio\/best-vault\//, () => 2],
  [/^\/portfolio\/(idle-assets|positions)\/\{userAddress\}$/, () => 5],
  [/^\/portfolio\/positions\/\{userAddress\}\/\{network\}\/\{vaultId\}$/, one],
  [/^\/portfolio\/(total-returns|partial-returns)\//, one],
  [/^\/portfolio\/events\//, () => 3],
  [/^\/portfolio\/statement$/, () => 10],
  [/^\/nrt\//, one],
  [/^\/transactions\/context\//, () => 3],
  [/^\/transactions\/rewards\/context\//, () => 3],
  [/^\/transactions\/rewards\/claim\//, () => 5],
  [/^\/transactions\/suffix\//, one],
  [/^\/transactions\/\{action\}\//, () => 5],
  [/^\/historical\/\{network\}\/\{vaultId\}\/daily-flows$/, items => 1 + items],
  [/^\/\{network\}\/\{vaultId\}\/holders$/, items => 1 + items],
  [/^\/historical-(positions|balances)\//, () => 5],
  [/^\/health$/, () => 0],
  [/^\/webhooks/, one],
  [/^\/feed$/, items => (items <= 100 ? 1 : Math.ceil(items / 100))],
]
/** Reckoned from the selection, or by twins of the above; checked below, or with what they do. */
const ELSEWHERE =
  /^\/(portfolio\/best-deposit-options|advanced-analytics|borrow|svm|fixed-term|amm)|^\/transactions\/(intent|cctp)\//

describe('credits', () => {
  const priceOf = (endpoint: Endpoint, items: number, request?: unknown, body?: unknown) =>
    typeof endpoint.cost === 'number'
      ? endpoint.cost
      : endpoint.cost({ body: body as never, items, request: request as never })

  it.each(endpoints.filter(({ endpoint }) => !ELSEWHERE.test(endpoint.path)).map(({ endpoint }) => endpoint))(
    '$path costs what the table says',
    endpoint => {
      const row = PRICES.find(([path]) => path.test(endpoint.path))
      expect(row, `no price for ${endpoint.path}`).toBeDefined()
      if (!row) return
      // Costs of a nested body are checked with the endpoint; what is counted in items is checked here.
      for (const items of [0, 1, 10, 5_000]) expect(priceOf(endpoint, items)).toBe(row[1](items))
    },
  )

  it.each(endpoints.map(({ endpoint }) => endpoint).filter(({ path }) => path.startsWith('/svm/')))(
    '$path costs what its twin does',
    endpoint => {
      // Without a network in its path; one asset by itself is read as all are.
      const twin = endpoint.path
        .slice('/svm'.length)
        .replace(/^(\/detailed-vaults)\/\{vaultAddress\}$/, '$1/{network}/{vaultId}')
        .replace('/{assetAddress}', '')
      const row = PRICES.find(([path]) => path.test(twin))
      expect(row, `no price for ${twin}`).toBeDefined()
      for (const items of [0, 1, 10, 5_000]) expect(priceOf(endpoint, items)).toBe(row?.[1](items))
    },
  )

  it('deposit options cost 1 and 2 for each vault named', () => {
    const found = endpoints.find(({ endpoint }) =>
      endpoint.path.startsWith('/portfolio/best-deposit-options'),
    )
    const userBalances = [{ depositOptions: [{}, {}] }, { depositOptions: [] }, { depositOptions: [{}] }]
    if (found) expect(priceOf(found.endpoint, 3, undefined, { userBalances })).toBe(7)
  })

  const analytics = endpoints
    .map(({ endpoint }) => endpoint)
    .find(({ path }) => path === '/advanced-analytics/{network}/{vaultId}')
  it.each([
    [{}, 0],
    [{ maxDrawdown: true }, 3],
    [{ composition: true }, 2],
    [{ detailedVault: true }, 3],
    [{ withdrawalPauseRatio: true }, 1],
    [{ utilizationRate: true }, 1],
    [{ maxDrawdown: true, composition: true }, 5],
  ])('one vault with %o costs %i', (select, credits) => {
    if (!analytics) return expect.unreachable()
    expect(priceOf(analytics, 1, { select })).toBe(credits)
  })
})
