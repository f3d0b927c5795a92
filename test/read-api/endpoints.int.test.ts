import type { Test } from 'supertest'
import request from 'supertest'
import { getAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openApiDocument } from '../../read-api/http/documentation.ts'
import { type Endpoint, tiersOf } from '../../read-api/http/endpoint.ts'
import { type LoadedEndpoint, loadEndpoints } from '../../read-api/http/load-endpoints.ts'
import { ErrorBody } from '../../read-api/http/shapes.ts'
import { type Node, startNode } from '../chain/node.ts'
import type { LoopbackIris } from './cctp/iris.ts'
import { burnAfter, seatBridge } from './cctp/seat.ts'
import { theClientsSpeak } from './client/speaking.ts'
import type { ApiHarness } from './harness.ts'
import { startApi } from './harness.ts'
import { stand } from './stand.ts'
import { makeSolana, type SolanaWorld, seatSolana } from './svm/world.ts'
import { standWebhook } from './webhooks/stand.ts'
import * as w from './world.ts'
import { seatWorld } from './world-on-chain.ts'

/** What holds for every endpoint, whatever it does. */

const endpoints: LoadedEndpoint[] = await loadEndpoints()
const routes = endpoints.flatMap(({ endpoint }) =>
  tiersOf(endpoint).map(tier => ({ name: `${endpoint.method} /${tier}${endpoint.path}`, tier, endpoint })),
)
let api: ApiHarness
let node: Node
let iris: LoopbackIris
let solana: SolanaWorld

beforeAll(async () => {
  node = await startNode({ hardfork: 'cancun' })
  const fixedTerm = await seatWorld(node, { fixedTerm: true })
  iris = await seatBridge(node)
  solana = await makeSolana()
  api = await startApi({ rpcUrl: node.rpcUrl, services: { 'cctp-v2': iris.url }, solanaUrl: solana.node.url })
  const world = w.makeWorld(fixedTerm?.events)
  await w.seed(api, world)
  await api.append(1, 'mainnet', [burnAfter(w.lastBlock(world))])
  await seatSolana(api, solana)
})
beforeEach(() => standWebhook(api.pool))
afterAll(async () => {
  await api?.stop()
  await iris?.stop()
  await solana?.node.close()
  await node?.stop()
})

/** Addresses that do not go out as EIP-55 has them; longer runs of digits are hashes or calldata. */
const notChecksummed = (text: string) =>
  [...text.matchAll(/0x[0-9a-f]{40}(?![0-9a-f])/gi)]
    .map(([found]) => found)
    .filter(found => found !== getAddress(found.toLowerCase()))

function pathOf(tier: string, { path, example }: Endpoint, network?: string): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = example.params?.[name] ?? ''
    return network && name === 'network' ? network : encodeURIComponent(stand[value] ?? value)
  })
  return `/${tier}${filled}`
}

function queryOf({ example }: Endpoint) {
  return Object.fromEntries(
    Object.entries(example.query ?? {}).map(([name, value]) => [
      name,
      typeof value === 'string' ? (stand[value] ?? value) : value,
    ]),
  )
}

function send(tier: string, endpoint: Endpoint, options: { network?: string; key?: string } = {}): Test {
  const asked = request(api.app)[endpoint.method](pathOf(tier, endpoint, options.network))
  if (options.key !== '') asked.set('x-api-key', options.key ?? api.apiKey)
  return endpoint.example.body ? asked.send(endpoint.example.body as object) : asked
}

it('lists what is served', () => {
  expect(routes.map(({ name }) => name).sort()).toMatchInlineSnapshot(`
    [
      "delete /beta/webhooks/{webhookId}",
      "get /alpha/historical-balances/{userAddress}/{timestamp}",
      "get /alpha/historical-positions/{userAddress}",
      "get /alpha/historical/{network}/{vaultId}/daily-flows",
      "get /alpha/transactions/cctp/context/{userAddress}/{srcNetwork}/{dstNetwork}/{assetAddress}",
      "get /alpha/transactions/cctp/money-in-transit/{userAddress}",
      "get /alpha/transactions/cctp/status",
      "get /alpha/transactions/cctp/transactions/{action}/{userAddress}/{srcNetwork}/{dstNetwork}",
      "get /alpha/transactions/intent/status",
      "get /alpha/{network}/{vaultId}/holders",
      "get /beta/amm/deep/deposit/{userAddress}/{network}/{vaultId}",
      "get /beta/amm/deep/detailed-vaults",
      "get /beta/amm/deep/positions/{userAddress}/{network}/{vaultId}",
      "get /beta/amm/deep/withdraw/{userAddress}/{network}/{vaultId}",
      "get /beta/borrow/markets",
      "get /beta/borrow/markets/historical/{network}/{marketId}/{assetId}",
      "get /beta/borrow/markets/nrt/{network}/{marketId}/{assetId}",
      "get /beta/borrow/markets/transactions/context/{userAddress}/{network}/{marketId}/{assetId}",
      "get /beta/borrow/markets/transactions/{action}/{userAddress}/{network}/{marketId}/{assetId}",
      "get /beta/borrow/markets/{network}",
      "get /beta/borrow/markets/{network}/{marketId}",
      "get /beta/borrow/portfolio/events/{userAddress}/{network}/{marketId}/{assetId}",
      "get /beta/borrow/portfolio/positions/{userAddress}",
      "get /beta/borrow/portfolio/positions/{userAddress}/{network}/{marketId}",
      "get /beta/borrow/portfolio/positions/{userAddress}/{network}/{marketId}/{assetId}",
      "get /beta/feed",
      "get /beta/fixed-term",
      "get /beta/fixed-term/context/{userAddress}/{network}/{vaultId}",
      "get /beta/fixed-term/detailed/{network}/{vaultId}",
      "get /beta/fixed-term/transactions/{action}/{userAddress}/{network}/{vaultId}",
      "get /beta/portfolio/partial-returns/{userAddress}/{network}/{vaultId}",
      "get /beta/portfolio/statement",
      "get /beta/svm/detailed-vaults",
      "get /beta/svm/detailed-vaults/{vaultAddress}",
      "get /beta/svm/portfolio/events/{userAddress}",
      "get /beta/svm/portfolio/events/{userAddress}/{vaultAddress}",
      "get /beta/svm/portfolio/idle-assets/{userAddress}",
      "get /beta/svm/portfolio/idle-assets/{userAddress}/{assetAddress}",
      "get /beta/svm/portfolio/positions/{userAddress}",
      "get /beta/svm/transactions/context/{userAddress}/{vaultAddress}",
      "get /beta/svm/transactions/{action}/{userAddress}/{vaultAddress}",
      "get /beta/svm/vaults",
      "get /beta/webhooks",
      "get /beta/webhooks/{webhookId}",
      "get /v2/assets",
      "get /v2/benchmarks/{network}",
      "get /v2/curators",
      "get /v2/detailed-vaults",
      "get /v2/detailed-vaults/{network}/{vaultId}",
      "get /v2/detailed-vaults/{network}/{vaultId}/apy",
      "get /v2/detailed-vaults/{network}/{vaultId}/tvl",
      "get /v2/health",
      "get /v2/historical-benchmarks/{network}",
      "get /v2/historical/asset-prices/{network}/{assetAddress}",
      "get /v2/historical/{network}/{vaultId}",
      "get /v2/historical/{network}/{vaultId}/apy",
      "get /v2/historical/{network}/{vaultId}/sharePrice",
      "get /v2/historical/{network}/{vaultId}/tvl",
      "get /v2/networks",
      "get /v2/nrt/vault/{network}/{vaultId}",
      "get /v2/nrt/vault/{network}/{vaultId}/sharePrice",
      "get /v2/nrt/vault/{network}/{vaultId}/totalAssets",
      "get /v2/nrt/vault/{network}/{vaultId}/totalSupply",
      "get /v2/nrt/vault/{network}/{vaultId}/underlyingAssetPrice",
      "get /v2/portfolio/best-deposit-options/{userAddress}",
      "get /v2/portfolio/best-vault/{userAddress}",
      "get /v2/portfolio/events/{userAddress}/{network}/{vaultId}",
      "get /v2/portfolio/idle-assets/{userAddress}",
      "get /v2/portfolio/positions/{userAddress}",
      "get /v2/portfolio/positions/{userAddress}/{network}/{vaultId}",
      "get /v2/portfolio/total-returns/{userAddress}/{network}/{vaultId}",
      "get /v2/protocols",
      "get /v2/tags",
      "get /v2/transactions/context/{userAddress}/{network}/{vaultId}",
      "get /v2/transactions/rewards/claim/{userAddress}",
      "get /v2/transactions/rewards/context/{userAddress}",
      "get /v2/transactions/suffix/{userAddress}/{vaultId}",
      "get /v2/transactions/{action}/{userAddress}/{network}/{vaultId}",
      "get /v2/vaults",
      "post /alpha/advanced-analytics",
      "post /alpha/advanced-analytics/{network}/{vaultId}",
      "post /alpha/transactions/intent/execute",
      "post /alpha/transactions/intent/getQuote",
      "post /beta/advanced-analytics",
      "post /beta/advanced-analytics/{network}/{vaultId}",
      "post /beta/webhooks",
      "post /beta/webhooks/{webhookId}/replay",
      "post /beta/webhooks/{webhookId}/rotate",
      "post /beta/webhooks/{webhookId}/test",
    ]
  `)
})

describe.each(routes)('$name', ({ tier, endpoint }) => {
  const { needs } = endpoint
  if (needs) {
    it('answers its example with 503 where it is not configured, and names what is missing', async () => {
      const answer = await send(tier, endpoint).query(queryOf(endpoint))
      expect([answer.status, answer.headers['x-credits-used']]).toEqual([503, '0'])
      const { message } = ErrorBody.parse(answer.body)
      for (const setting of needs) expect(message).toContain(setting)
    })
  }

  it.skipIf(needs)('answers its example with what its schema says, and says what it cost', async () => {
    const answer = await send(tier, endpoint).query(queryOf(endpoint))
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    endpoint.response.parse(answer.body)
    expect(notChecksummed(answer.text)).toEqual([])
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    if (endpoint.access !== 'open') {
      expect(Number(answer.headers['x-credits-used'])).toBeGreaterThanOrEqual(1)
      expect(Number(answer.headers['x-credits-remaining'])).toBeGreaterThan(0)
    }
    if ('network' in (endpoint.params?.shape ?? {}))
      expect(answer.headers['x-as-of-block']).toMatch(/^mainnet=\d+$/)
    if (endpoint.path.startsWith('/svm/')) expect(answer.headers['x-as-of-block']).toMatch(/^solana=\d+$/)
  })

  it('is in the OpenAPI document of its tier', async () => {
    const document = openApiDocument(endpoints, tier)
    const operation = document.paths?.[`/${tier}${endpoint.path}`]?.[endpoint.method]
    expect(operation?.summary).toBe(endpoint.summary)
    const named = (operation?.parameters ?? []).map(parameter => ('name' in parameter ? parameter.name : ''))
    expect(named.sort()).toEqual(
      [...Object.keys(endpoint.params?.shape ?? {}), ...Object.keys(endpoint.query?.shape ?? {})].sort(),
    )
  })

  it('refuses an unknown query parameter by name', async () => {
    const answer = await send(tier, endpoint).query({ ...queryOf(endpoint), perpage: '3' })
    expect(answer.status).toBe(400)
    const body = ErrorBody.parse(answer.body)
    expect(body).toMatchObject({
      statusCode: 400,
      error: 'Bad Request',
      errorId: answer.headers['x-request-id'],
    })
    expect(body.message).toContain('"perpage"')
    if (endpoint.query?.shape['perPage']) expect(body.message).toContain('Did you mean "perPage"?')
    expect(answer.headers['x-credits-used']).toBe('0')
  })

  if (endpoint.access !== 'open') {
    it.each([
      ['no key', ''],
      ['an unknown key', 'vl_nobody'],
    ])('wants a key: %s', async (_, key) => {
      const answer = await send(tier, endpoint, { key }).query(queryOf(endpoint))
      expect(answer.status).toBe(401)
      expect(ErrorBody.parse(answer.body)).toMatchObject({ error: 'Unauthorized' })
      expect(answer.body.errorId).toBe(answer.headers['x-request-id'])
    })
  }

  if ('network' in (endpoint.params?.shape ?? {})) {
    it.each(['eip155:1', 'eip155%3A1', 'MAINNET'])('takes the network as %s', async network => {
      const answer = await send(tier, endpoint, { network }).query(queryOf(endpoint))
      expect(answer.status).toBe(200)
    })

    it('refuses a network that there is not, and answers 404 for one where nothing is', async () => {
      const unknown = await send(tier, endpoint, { network: 'mainet' }).query(queryOf(endpoint))
      expect(unknown.status).toBe(400)
      expect(unknown.body.message).toContain('"network"')
      const empty = await send(tier, endpoint, { network: 'base' }).query(queryOf(endpoint))
      // Of a network as a whole the wire says null where there is no benchmark.
      if (endpoint.path.includes('benchmarks'))
        expect([empty.status, empty.body.apy ?? null, empty.body.data ?? []]).toEqual([200, null, []])
      else {
        expect(empty.status).toBe(404)
        expect(notChecksummed(empty.text)).toEqual([])
      }
    })
  }

  const filters = ['allowedNetworks', 'network'].filter(name => endpoint.query?.shape[name])
  if (filters.length > 0) {
    it('names a network that is not indexed here, as one that there is not', async () => {
      for (const name of filters) {
        const answer = await send(tier, endpoint).query({ ...queryOf(endpoint), [name]: 'base' })
        expect(answer.status).toBe(200)
        expect(answer.body.errors.unsupportedNetworks).toEqual(['base'])
        expect(answer.body.errors.unreachableNetworks).toBeUndefined()
      }
    })
  }

  if (endpoint.query?.shape['attribution']) {
    it('marks payloads with the key, unless asked not to', async () => {
      const marked = await send(tier, endpoint).query(queryOf(endpoint))
      const plain = await send(tier, endpoint).query({ ...queryOf(endpoint), attribution: 'none' })
      expect([marked.status, plain.status]).toEqual([200, 200])
      const hasActions = marked.text.includes('"data":"0x')
      expect(marked.text.includes('80218021')).toBe(hasActions)
      expect(plain.text.includes('80218021')).toBe(false)
      expect(plain.text.includes('"data":"0x')).toBe(hasActions)
    })
  }

  if (endpoint.method === 'get' && endpoint.access !== 'open' && !needs) {
    it('tells for one credit what it would cost', async () => {
      const headed = await request(api.app)
        .head(pathOf(tier, endpoint))
        .query(queryOf(endpoint))
        .set('x-api-key', api.apiKey)
      const got = await send(tier, endpoint).query(queryOf(endpoint))
      expect([headed.status, headed.headers['x-credits-used']]).toEqual([200, '1'])
      expect(headed.headers['x-credits-cost']).toBe(got.headers['x-credits-used'])
    })
  }

  if (endpoint.query?.shape['fromTimestamp'] && !endpoint.path.startsWith('/svm/')) {
    it('refuses a window that begins in the future, as one in milliseconds does', async () => {
      const asked = { ...queryOf(endpoint), fromTimestamp: '4102444800', toTimestamp: '4102444900' }
      const answer = await send(tier, endpoint).query(asked)
      expect(answer.status).toBe(422)
      expect(answer.body.message).toMatch(/"fromTimestamp".* in the future/)
    })
  }

  if (endpoint.query?.shape['page']) {
    it.each([{ page: '-1' }, { page: '1.5' }, { perPage: '0' }, { perPage: '999999' }, { page: ['1', '2'] }])(
      'refuses %o',
      async wrong => {
        const answer = await send(tier, endpoint).query({ ...queryOf(endpoint), ...wrong })
        expect(answer.status).toBe(400)
        expect(answer.body.message).toContain(`"${Object.keys(wrong)[0]}"`)
      },
    )

    it('gives the same items page by page as at once', async () => {
      const { page: _, perPage: __, ...query } = queryOf(endpoint)
      const whole = await send(tier, endpoint).query({ ...query, perPage: '100' })
      const parts: unknown[] = []
      for (let page: number | null = 0; page !== null && parts.length < whole.body.data.length; ) {
        const part: { body: { itemsOnPage: number; nextPage: number | null; data: unknown[] } } = await send(
          tier,
          endpoint,
        ).query({ ...query, page, perPage: '7' })
        expect(part.body.itemsOnPage).toBe(part.body.data.length)
        parts.push(...part.body.data)
        page = part.body.nextPage
      }
      expect(parts.slice(0, whole.body.data.length)).toEqual(whole.body.data)
    })
  }
})

describe('the generated clients', () => theClientsSpeak(() => api))

describe('around the endpoints', () => {
  it.each(['v2', 'beta', 'alpha'])('serves the OpenAPI document of %s without a key', async tier => {
    const answer = await request(api.app).get(`/${tier}/documentation/json`)
    expect(answer.status).toBe(200)
    expect(answer.body.openapi).toBe('3.1.0')
    expect(Object.keys(answer.body.paths).length).toBeGreaterThan(0)
  })

  it('serves the interactive page from our own origin only', async () => {
    const page = await request(api.app).get('/documentation')
    // A browser would ask for /favicon.ico, and be told 404.
    expect(page.text).toContain('<link rel="icon" href="data:image/svg+xml')
    expect(page.headers['content-security-policy']).toContain("default-src 'none';script-src 'self'")
    const parts = [...page.text.matchAll(/(?:src|href)="(?!data:|#)([^"]+)"/g)].map(match => match[1] ?? '')
    expect(parts.length).toBeGreaterThan(2)
    for (const part of parts) {
      const { host, pathname } = new URL(part, 'http://here/documentation')
      expect([host, (await request(api.app).get(pathname)).status], part).toEqual(['here', 200])
    }
  })

  it('opens at / with a page of our own that leads to what there is', async () => {
    const page = await request(api.app).get('/')
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    const parts = [...page.text.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(match => match[1] ?? '')
    expect(parts.length).toBeGreaterThan(6)
    for (const part of parts) {
      const { host, pathname } = new URL(part, 'http://here/')
      expect([host, (await request(api.app).get(pathname)).status], part).toEqual(['here', 200])
    }
  })

  it('tells all tiers in one document, and every operation in /llms.txt', async () => {
    const { body: whole } = await request(api.app).get('/openapi.json')
    const { text } = await request(api.app).get('/llms.txt')
    expect(text).toMatch(/^# Vaultlog\n\n> /)
    for (const tier of ['v2', 'beta', 'alpha']) {
      const { body: one } = await request(api.app).get(`/${tier}/documentation/json`)
      expect(whole.paths).toMatchObject(one.paths)
      expect(whole.components).toMatchObject(one.components)
    }
    expect(Object.keys(whole.paths).length).toBe(
      new Set(routes.map(({ tier, endpoint }) => tier + endpoint.path)).size,
    )
    for (const { tier, endpoint } of routes)
      expect(text).toContain(
        `- ${endpoint.method.toUpperCase()} /${tier}${endpoint.path}: ${endpoint.summary}`,
      )
  })

  it('takes an address in any case, its prefix too', async () => {
    const at = (user: string) =>
      request(api.app)
        .get(`/v2/portfolio/events/${user}/mainnet/${w.USD_VAULT.toUpperCase()}`)
        .set('x-api-key', api.apiKey)
    const [lower, upper] = [await at(w.ALICE), await at(w.ALICE.toUpperCase())]
    expect(upper.body).toEqual(lower.body)
    expect(upper.body.items).toBeGreaterThan(0)
  })

  it('answers what is not there with the error body', async () => {
    const answer = await request(api.app).get('/v2/vault')
    expect(answer.status).toBe(404)
    expect(ErrorBody.parse(answer.body).statusCode).toBe(404)
  })

  it.each([
    ['a body that is not JSON', '{"select":', 400],
    ['an unknown section', '{"select":{"everything":true}}', 400],
    ['a section set to false', '{"select":{"maxDrawdown":false}}', 400],
    ['another key', '{"selected":{}}', 400],
    ['nothing', '', 200],
  ])('reads a body: %s', async (_, body, status) => {
    const answer = await request(api.app)
      .post(`/beta/advanced-analytics/mainnet/${w.ETH_VAULT}`)
      .set('x-api-key', api.apiKey)
      .set('content-type', 'application/json')
      .send(body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(status)
    if (status !== 200) ErrorBody.parse(answer.body)
  })

  it.each([
    [`/v2/historical/mainnet/${w.USD_VAULT}?fromTimestamp=200&toTimestamp=100`, 422, 'fromTimestamp'],
    [`/v2/historical/mainnet/${w.USD_VAULT}?granularity=2hours`, 400, '1hour, 1day, 1week'],
    [`/v2/detailed-vaults?minTvl=much`, 400, 'minTvl'],
    ['/v2/benchmarks/mainnet', 400, '"code" is missing: it must be one of usd, eth.'],
    [`/v2/detailed-vaults/mainnet/0x123`, 400, 'vaultId'],
    [`/v2/detailed-vaults/mainnet/some-name`, 404, 'some-name'],
    [`/v2/detailed-vaults/mainnet/%E0%A4%A`, 400, 'percent'],
    [`/v2/vaults?network=nowhere`, 400, 'network'],
    [`/alpha/historical-balances/${w.ALICE}/99999999999`, 422, 'future'],
    [
      `/beta/portfolio/partial-returns/${w.ALICE}/mainnet/${w.USD_VAULT}?fromTimestamp=4000000000`,
      422,
      'future',
    ],
    [`/v2/portfolio/positions/${w.ALICE}?minUsdAssetValueThreshold=-1`, 400, 'at least 0'],
    [`/alpha/historical-balances/nobody/5`, 400, 'userAddress'],
    [
      `/alpha/historical/mainnet/${w.USD_VAULT}/daily-flows?fromDate=2025-02-30&toDate=2025-03-01`,
      400,
      'fromDate',
    ],
    [
      `/alpha/historical/mainnet/${w.USD_VAULT}/daily-flows?fromDate=2025-03-30&toDate=2025-03-01`,
      422,
      'fromDate',
    ],
    [`/alpha/historical/mainnet/${w.USD_VAULT}/daily-flows?toDate=2025-03-01`, 400, 'missing'],
  ])('%s is %i', async (path, status, word) => {
    const answer = await request(api.app).get(path).set('x-api-key', api.apiKey)
    expect(answer.status, JSON.stringify(answer.body)).toBe(status)
    expect(ErrorBody.parse(answer.body).message).toContain(word)
  })
})
