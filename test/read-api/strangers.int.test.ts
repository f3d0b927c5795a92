import type { Test } from 'supertest'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checksum } from '../../read-api/http/amounts.ts'
import { type Endpoint, tiersOf } from '../../read-api/http/endpoint.ts'
import { loadEndpoints } from '../../read-api/http/load-endpoints.ts'
import { type Node, startNode } from '../chain/node.ts'
import type { LoopbackIris } from './cctp/iris.ts'
import { burnAfter, seatBridge } from './cctp/seat.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { stand } from './stand.ts'
import { FALSE_USD, HONEST, NAMESAKE, RICH, STRANGERS, withStrangers } from './strangers.ts'
import * as w from './world.ts'
import { seatWorld } from './world-on-chain.ts'

/**
 * One world twice: as it is, and with strangers' vaults beside, the best of all by their own word. Unless somebody asks
 * for them, nothing that the API says of many vaults differs by a byte.
 */

let node: Node
let alone: ApiHarness
let beside: ApiHarness
let iris: LoopbackIris

beforeAll(async () => {
  node = await startNode({ hardfork: 'cancun' })
  const fixedTerm = await seatWorld(node, { fixedTerm: true })
  iris = await seatBridge(node)
  const world = w.makeWorld(fixedTerm?.events)
  const options = { rpcUrl: node.rpcUrl, services: { 'cctp-v2': iris.url } }
  alone = await startApi(options)
  beside = await startApi({ ...options, strangers: STRANGERS })
  await w.seed(alone, world)
  await w.seed(beside, { ...world, blocks: withStrangers(world.blocks) })
  for (const api of [alone, beside]) {
    await api.append(1, 'mainnet', [burnAfter(w.lastBlock(world))])
    await api.catchUp()
  }
})
afterAll(async () => {
  await alone?.stop()
  await beside?.stop()
  await iris?.stop()
  await node?.stop()
})

const endpoints = await loadEndpoints()
// What needs a service of somebody else is not configured here, Solana is another chain than theirs, and webhooks are of a key.
const routes = endpoints
  .filter(({ endpoint }) => !endpoint.needs && !/^\/(svm|webhooks)\b/.test(endpoint.path))
  .flatMap(({ endpoint }) =>
    tiersOf(endpoint).map(tier => ({ name: `${endpoint.method} /${tier}${endpoint.path}`, tier, endpoint })),
  )
/** What is read on chain in passing has a moment of its own, and a suffix is made of the key. */
const OF_ITS_OWN = /\/(nrt|transactions|deep\/deposit|deep\/withdraw)\//

const filled = (value: string) => stand[value] ?? value

function ask(api: ApiHarness, tier: string, { method, path, example }: Endpoint, query: object = {}): Test {
  const url = `/${tier}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(filled(example.params?.[name] ?? '')))}`
  const own = Object.entries(example.query ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? filled(value) : value,
  ])
  const asked = method === 'get' ? request(api.app).get(url) : request(api.app).post(url)
  asked.set('x-api-key', api.apiKey).query({ ...Object.fromEntries(own), ...query })
  return example.body ? asked.send(example.body as object) : asked
}

const mentioned = (text: string) =>
  [...STRANGERS, FALSE_USD].filter(address => text.toLowerCase().includes(address))

describe.each(routes)('$name', ({ name, tier, endpoint }) => {
  it('names no stranger, and says what it says without them', async () => {
    const there = await ask(beside, tier, endpoint)
    expect(there.status, there.text).toBe(200)
    expect(mentioned(there.text)).toEqual([])
    if (OF_ITS_OWN.test(name)) return
    const here = await ask(alone, tier, endpoint)
    expect(there.text).toBe(here.text)
    expect(there.headers['x-as-of-block']).toBe(here.headers['x-as-of-block'])
  })
})

const lists: [path: string, query: Record<string, string>][] = [
  ...['tvl', 'apy1day', 'apy7day', 'apy30day'].flatMap(sortBy =>
    ['asc', 'desc'].map((sortOrder): [string, Record<string, string>] => [
      '/v2/detailed-vaults',
      { sortBy, sortOrder, allowCorrupted: 'true' },
    ]),
  ),
  ['/v2/detailed-vaults', { allowedAssets: 'USDX' }],
  ['/v2/detailed-vaults', { disallowedProtocols: 'morpho', minVaultScore: '0' }],
  ['/v2/vaults', { assetSymbol: 'usdx', allowCorrupted: 'true' }],
  ['/v2/assets', {}],
  ['/v2/protocols', {}],
  ['/v2/tags', {}],
  ['/v2/curators', {}],
  ['/v2/benchmarks/mainnet', { code: 'usd' }],
  ['/v2/benchmarks/mainnet', { code: 'eth' }],
  ['/v2/historical-benchmarks/mainnet', { code: 'eth', perPage: '50' }],
  ...[w.ALICE, w.BOB, w.CAROL].flatMap((user): [string, Record<string, string>][] => [
    [`/v2/portfolio/positions/${user}`, { sortBy: 'balanceUsd' }],
    [`/v2/portfolio/idle-assets/${user}`, {}],
    [`/v2/portfolio/best-vault/${user}`, {}],
    [`/v2/portfolio/best-deposit-options/${user}`, { alwaysReturnAssets: 'USDX' }],
    [`/alpha/historical-positions/${user}`, {}],
    [`/alpha/historical-balances/${user}/${w.START + 20 * w.DAY}`, {}],
  ]),
]

it.each(lists)('%s %o is the same with and without them', async (path, query) => {
  const of = (api: ApiHarness) => request(api.app).get(path).set('x-api-key', api.apiKey).query(query)
  const [here, there] = [await of(alone), await of(beside)]
  expect(here.status, here.text).toBe(200)
  expect(there.text).toBe(here.text)
})

describe('a stranger who is asked for', () => {
  const get = (path: string, query: Record<string, string> = {}) =>
    request(beside.app).get(path).set('x-api-key', beside.apiKey).query(query)

  it.each([
    '/v2/vaults',
    '/v2/detailed-vaults',
    '/v2/assets',
    `/v2/portfolio/positions/${w.ALICE}`,
    `/alpha/historical-positions/${w.ALICE}`,
    `/alpha/historical-balances/${w.ALICE}/${w.START + 20 * w.DAY}`,
  ])('%s: by allowUnlisted, and counted without', async path => {
    // What they say is not believed either.
    const all: Record<string, string> = /assets|historical-positions/.test(path)
      ? {}
      : { allowCorrupted: 'true' }
    const asked = await get(path, { ...all, allowUnlisted: 'true' })
    expect(mentioned(asked.text).length, asked.text).toBeGreaterThan(0)
    expect(asked.headers['x-unlisted-left-out']).toBe('0')
    const { headers } = await get(path, all)
    expect(Number(headers['x-unlisted-left-out'])).toBeGreaterThan(0)
    expect(headers['access-control-expose-headers']).toContain('x-unlisted-left-out')
  })

  it('is advised only then, however good and true its figures are', async () => {
    const advice = `/v2/portfolio/best-deposit-options/${w.ALICE}`
    const without = await get(advice, { allowVaultsWithWarnings: 'true' })
    expect(mentioned(without.text)).toEqual([])
    expect(without.headers['x-unlisted-left-out']).toBe('1')
    const asked = await get(advice, { allowVaultsWithWarnings: 'true', allowUnlisted: 'true' })
    expect(mentioned(asked.text)).toEqual([HONEST])
  })

  it('is not what a symbol means, but has an address and a CAIP-19 identifier', async () => {
    const vaults = async (allowedAssets: string) => {
      const { body } = await get('/v2/detailed-vaults', {
        allowedAssets,
        allowCorrupted: 'true',
        allowUnlisted: 'true',
      })
      return body.data.map(({ address }: { address: string }) => address.toLowerCase())
    }
    expect(await vaults(FALSE_USD)).toEqual([NAMESAKE])
    expect(await vaults(`eip155:1/erc20:${checksum(FALSE_USD)}`)).toEqual([NAMESAKE])
    const { body } = await get('/v2/detailed-vaults', { allowedAssets: 'USDX' })
    expect(body.data.map(({ address }: { address: string }) => address.toLowerCase())).toEqual([w.USD_VAULT])
  })

  it('sends its shares to a listed vault, and is nothing that this consists of', async () => {
    const held = await get(`/v2/portfolio/positions/${w.USD_VAULT}`, {
      allowUnlisted: 'true',
      allowCorrupted: 'true',
    })
    expect(mentioned(held.text)).toContain(HONEST)
    const analytics = (api: ApiHarness) =>
      request(api.app)
        .post(`/beta/advanced-analytics/mainnet/${w.USD_VAULT}`)
        .set('x-api-key', api.apiKey)
        .send({ select: { composition: true, utilizationRate: true } })
    const [here, there] = [await analytics(alone), await analytics(beside)]
    expect(there.status, there.text).toBe(200)
    expect(mentioned(there.text)).toEqual([])
    expect(there.text).toBe(here.text)
  })

  it('has a flag that nobody vouches for it, which costs its score what a warning costs', async () => {
    const { body } = await get(`/v2/detailed-vaults/mainnet/${HONEST}`)
    expect(body.flags.map(({ severity }: { severity: string }) => severity)).toEqual(['warning'])
    const { score } = body
    expect(score.penaltyComponents).toEqual([{ type: 'flag', value: 0.2, ...body.flags[0] }])
    const { protocolTvlScore, vaultTvlScore, holderScore, assetScore, vaultScore } = score
    // In hundredths, as each part is rounded.
    const sum = protocolTvlScore + vaultTvlScore + holderScore + assetScore
    expect(vaultScore).toBeCloseTo(sum * 0.8, 1)
  })

  it('says so where an answer would be empty without a word', async () => {
    const { body, headers } = await get('/v2/detailed-vaults', {
      allowedProtocols: 'rich',
      allowCorrupted: 'true',
    })
    expect(body.data).toEqual([])
    expect(headers['x-unlisted-left-out']).toBe('4')
    expect(body.warnings).toEqual([expect.stringContaining('4 vaults for which nobody vouches left out')])
  })

  it('counts what is left out of those that the request asks for', async () => {
    const at = w.START + 10 * w.HOUR
    const held = await get(`/alpha/historical-balances/${w.ALICE}/${at}`, { allowCorrupted: 'true' })
    expect(Number(held.headers['x-unlisted-left-out'])).toBeGreaterThan(0)
    const elsewhere = await get(`/alpha/historical-balances/${w.ALICE}/${at}`, {
      allowedNetworks: 'gnosis',
      allowCorrupted: 'true',
    })
    expect(elsewhere.headers['x-unlisted-left-out']).toBe('0')
    expect(elsewhere.body).not.toHaveProperty('warnings')
  })

  it('says nothing of the kind where a list has merely come to its end', async () => {
    for (const list of ['/v2/detailed-vaults', '/v2/vaults']) {
      const { body } = await get(list, { page: '9' })
      expect(body).toMatchObject({ itemsOnPage: 0, nextPage: null })
      expect(body).not.toHaveProperty('warnings')
    }
  })

  it('answers for itself, with its standing, a flag and a warning', async () => {
    const { body } = await get(`/v2/detailed-vaults/mainnet/${RICH}`)
    expect(body.standing).toBe('found')
    expect(body.flags).toEqual([expect.objectContaining({ severity: 'warning' })])
    expect(body.warnings[0]).toContain('Nobody vouches')
    expect(body.isCorrupted).toBe(true)
    expect(body.warnings[1]).toContain('more than is seen behind it')
    expect(body.tvl).toEqual({ usd: '0', native: '0' })
    const { body: own } = await get(`/v2/detailed-vaults/mainnet/${w.USD_VAULT}`)
    expect(own.standing).toBe('listed')
    expect(own.flags).toEqual([])
  })

  it('gets no deposit prepared, and bars nobody from redeeming', async () => {
    const of = (action: string, query: Record<string, string>) =>
      get(`/v2/transactions/${action}/${w.ALICE}/mainnet/${RICH}`, query)
    const refused = await of('deposit', { assetAddress: w.USD_ASSET, amount: '1000000' })
    expect(refused.status).toBe(422)
    expect(refused.body.message).toContain('allowUnlisted=true')
    const asked = await of('deposit', { assetAddress: w.USD_ASSET, amount: '1000000', allowUnlisted: 'true' })
    expect(asked.body.message ?? '').not.toContain('allowUnlisted')
    const redeem = await of('redeem', { assetAddress: RICH, amount: '1' })
    expect(redeem.body.message ?? '').not.toContain('allowUnlisted')
  })
})

it('shows them by default where an installation wants it, but advises none of them', async () => {
  const own = await startApi({ rpcUrl: node.rpcUrl, strangers: STRANGERS, showUnlisted: true })
  try {
    const world = w.makeWorld()
    await w.seed(own, { ...world, blocks: withStrangers(world.blocks) })
    const get = (path: string, query: object) =>
      request(own.app).get(path).set('x-api-key', own.apiKey).query(query)
    const all = { allowCorrupted: 'true' }
    expect(mentioned((await get('/v2/vaults', all)).text)).toContain(RICH)
    expect(mentioned((await get('/v2/vaults', { ...all, allowUnlisted: 'false' })).text)).toEqual([])
    const advice = await get(`/v2/portfolio/best-deposit-options/${w.ALICE}`, {
      ...all,
      allowVaultsWithWarnings: 'true',
    })
    expect(advice.status, advice.text).toBe(200)
    expect(mentioned(advice.text)).toEqual([])
  } finally {
    await own.stop()
  }
})
