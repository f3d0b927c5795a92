import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, definePlan } from '../../../db/keys/keys.ts'
import { loadEndpoints } from '../../../read-api/http/load-endpoints.ts'
import { serve } from '../../../read-api/http/serve.ts'
import { bindTools } from '../../../read-api/mcp/bind.ts'
import { tools } from '../../../read-api/mcp/tools.ts'
import { type Node, startNode } from '../../chain/node.ts'
import type { LoopbackIris } from '../cctp/iris.ts'
import { burnAfter, seatBridge } from '../cctp/seat.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import { makeSolana, type SolanaWorld, seatSolana } from '../svm/world.ts'
import * as w from '../world.ts'
import { seatWorld } from '../world-on-chain.ts'
import { type Asked, everyExample } from './asking.ts'
import { expectNoFailure, fuzzTools } from './fuzz.ts'
import { type Agent, questions } from './questions.ts'

/** The tools by the published clients of either generation, over the whole made-up world. */

const bound = bindTools(tools, await loadEndpoints())
let node: Node
let api: ApiHarness
let iris: LoopbackIris
let solana: SolanaWorld
let server: Awaited<ReturnType<typeof serve>>
let url: string
let newer: Client
let older: OlderClient
let lastBlock: number

beforeAll(async () => {
  node = await startNode({ hardfork: 'cancun' })
  const fixedTerm = await seatWorld(node, { fixedTerm: true })
  iris = await seatBridge(node)
  solana = await makeSolana()
  api = await startApi({ rpcUrl: node.rpcUrl, services: { 'cctp-v2': iris.url }, solanaUrl: solana.node.url })
  const world = w.makeWorld(fixedTerm?.events)
  await w.seed(api, world)
  const burn = burnAfter(w.lastBlock(world))
  lastBlock = burn.block.number
  await api.append(1, 'mainnet', [burn])
  await seatSolana(api, solana)
  server = await serve(api.app, { port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${server.port}`
  newer = await connect({ 'x-api-key': api.apiKey })
  older = new OlderClient({ name: 'older', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${api.apiKey}` } }
  await older.connect(new OlderTransport(new URL(`${url}/mcp`), { requestInit }))
})
afterAll(async () => {
  await newer?.close()
  await older?.close()
  await server?.close()
  await api?.stop()
  await iris?.stop()
  await solana?.node.close()
  await node?.stop()
})

async function connect(headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'newer', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
  return client
}

interface Result {
  isError?: boolean
  structuredContent?: unknown
  content?: unknown
}
interface Said {
  answer: unknown
  asOfBlock?: Record<string, number>
  credits: { used: number; remaining: number }
  statusCode?: number
  message?: string
}
const saidBy = (result: Result) => result.structuredContent as Said

/** The same over HTTP, with the headers that an agent does not see. */
async function overHttp({ method, path, body }: Asked) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'x-api-key': api.apiKey, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  })
  return { response, body: (await response.json()) as unknown }
}

describe('the published clients', () => {
  it('list the same tools, within what an agent can read', async () => {
    const listed = await newer.listTools()
    expect((await older.listTools()).tools).toEqual(listed.tools)
    expect(listed.tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
    expect(listed.tools.length).toBeLessThanOrEqual(20)
    const text = JSON.stringify(listed.tools)
    expect(text.length).toBeLessThanOrEqual(24_000)
    // Four characters a token, as models' makers reckon English and JSON.
    expect(text.length / 4).toBeLessThanOrEqual(6_000)
  })

  it('speak the revision of their generation', () => {
    expect(newer.getNegotiatedProtocolVersion()).toBe('2026-07-28')
    expect(newer.getInstructions()).toContain('base units')
    expect(older.getInstructions()).toBe(newer.getInstructions())
  })

  it('read the networks as a resource', async () => {
    const { resources } = await newer.listResources()
    const [{ uri } = { uri: '' }] = resources
    const [content] = (await newer.readResource({ uri })).contents
    const networks = JSON.parse(content && 'text' in content ? content.text : '[]') as {
      name: string
      indexedUpToBlock: number | null
    }[]
    expect(networks).toHaveLength(22)
    expect(networks.find(({ name }) => name === 'mainnet')?.indexedUpToBlock).toBe(lastBlock)
    expect(networks.find(({ name }) => name === 'base')?.indexedUpToBlock).toBeNull()
    expect((await older.readResource({ uri })).contents).toEqual([content])
    await expect(newer.readResource({ uri: 'vaultlog://secrets' })).rejects.toThrow(/secrets/)
  })

  it.each(bound.flatMap(({ tool, routes }) => [...routes.keys()].map(choice => [tool.name, choice])))(
    'call %s %s, and get what the API says over HTTP',
    async (name, choice) => {
      const asked = everyExample(bound).find(
        one => one.tool === name && (choice === '' || Object.values(one.arguments).includes(choice)),
      )
      if (!asked) return expect.unreachable()
      const { response, body } = await overHttp(asked)
      expect(response.status, JSON.stringify(body)).toBe(200)
      for (const client of [newer, older]) {
        const result = (await client.callTool({ name: asked.tool, arguments: asked.arguments })) as Result
        const said = saidBy(result)
        expect(result.isError ?? false, JSON.stringify(said)).toBe(false)
        expect(said.answer).toEqual(body)
        const blocks = response.headers.get('x-as-of-block')
        expect(
          said.asOfBlock &&
            Object.entries(said.asOfBlock)
              .map(([network, block]) => `${network}=${block}`)
              .join(', '),
        ).toBe(blocks ?? undefined)
        expect(String(said.credits.used)).toBe(response.headers.get('x-credits-used'))
        expect(said.credits.remaining).toBeLessThanOrEqual(
          Number(response.headers.get('x-credits-remaining')),
        )
        // What clients without structured answers read is the same.
        expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(said) }])
      }
    },
  )
})

describe('what goes wrong is said as over HTTP', () => {
  const wrong: [name: string, given: Record<string, unknown>, path: string][] = [
    ['get_vault', { network: 'mainet', vaultId: w.USD_VAULT }, `/v2/detailed-vaults/mainet/${w.USD_VAULT}`],
    ['get_vault', { network: 'mainnet', vaultId: '0x12' }, '/v2/detailed-vaults/mainnet/0x12'],
    ['get_vault', { network: 'base', vaultId: w.USD_VAULT }, `/v2/detailed-vaults/base/${w.USD_VAULT}`],
    ['find_vaults', { sortby: 'tvl' }, '/v2/detailed-vaults?sortby=tvl&perPage=10'],
    ['find_vaults', { minTvl: 2, maxTvl: 1 }, '/v2/detailed-vaults?minTvl=2&maxTvl=1&perPage=10'],
  ]
  it.each(wrong)('%s %o', async (name, given, path) => {
    const { response, body } = await overHttp({ tool: name, arguments: given, method: 'GET', path })
    expect(response.status).toBeGreaterThanOrEqual(400)
    const result = (await newer.callTool({ name, arguments: given })) as Result
    expect(result.isError).toBe(true)
    const { errorId: _, ...words } = body as Record<string, unknown>
    expect(saidBy(result)).toMatchObject({ ...words, credits: { used: 0 } })
  })

  it('a name that has moved is followed', async () => {
    const market = (await newer.callTool({ name: 'get_lending_markets', arguments: {} })) as Result
    const [{ network, marketId }] = (
      saidBy(market).answer as {
        data: [{ network: { name: string }; marketId: string }]
      }
    ).data
    const given = { network: network.name, marketId, assetId: w.USD_ASSET, perPage: 1 }
    const moved = (await newer.callTool({ name: 'get_lending_history', arguments: given })) as Result
    expect(saidBy(moved).statusCode).toBeUndefined()
    expect(saidBy(moved).answer).toMatchObject({ itemsOnPage: 1 })
  })

  it('a tool that there is not is named, with the one that was meant', async () => {
    await expect(newer.callTool({ name: 'get_vaults', arguments: {} })).rejects.toThrow(
      /Unknown tool "get_vaults". Did you mean "get_vault"\?/,
    )
  })

  it.each([
    [{}, 401, 'No API key'],
    [{ 'x-api-key': 'vl_nobody' }, 401, 'not known'],
    [{ authorization: 'Bearer vl_nobody' }, 401, 'not known'],
  ])('with %o tools are listed, and calling one is %i', async (headers, statusCode, words) => {
    const stranger = await connect(headers as Record<string, string>)
    expect((await stranger.listTools()).tools.length).toBe(tools.length)
    const result = (await stranger.callTool({ name: 'list_names', arguments: {} })) as Result
    expect(saidBy(result)).toMatchObject({ statusCode, message: expect.stringContaining(words) })
    await stranger.close()
  })
})

describe('a key of few credits and requests', () => {
  it('is held to both, by tools as over HTTP, and the two add up', async () => {
    await definePlan(api.pool, { name: 'few', creditsPerMonth: 5, requestsPerMinute: 4 })
    const { key } = await createKey(api.pool, { name: 'few', plan: 'few' })
    const poor = await connect({ 'x-api-key': key })
    const steady = { network: 'mainnet', vaultId: w.USD_VAULT }
    const get = async () => saidBy((await poor.callTool({ name: 'get_vault', arguments: steady })) as Result)
    const path = `${url}/v2/detailed-vaults/mainnet/${w.USD_VAULT}`
    const overHttpToo = async () => (await fetch(path, { headers: { 'x-api-key': key } })).json()
    expect((await get()).credits).toEqual({ used: 3, remaining: 2 })
    const { errorId: _, ...refused } = (await overHttpToo()) as Record<string, unknown>
    expect(refused['statusCode']).toBe(403)
    expect(await get()).toMatchObject({ ...refused, credits: { used: 0, remaining: 2 } })
    // The fourth request of the minute is the last.
    await poor.callTool({ name: 'list_names', arguments: {} })
    expect(await get()).toMatchObject({ statusCode: 429, retryAfterSeconds: expect.any(Number) })
    expect(((await overHttpToo()) as { statusCode: number }).statusCode).toBe(429)
    // Listing tools asks nothing of the key.
    expect((await poor.listTools()).tools).toHaveLength(tools.length)
    await poor.close()
  })
})

describe('ten questions of somebody who uses vaults', () => {
  const agent: Agent = async (name, given) => {
    const result = (await newer.callTool({ name, arguments: given })) as Result
    const said = saidBy(result)
    expect(result.isError ?? false, `${name} ${JSON.stringify(given)} → ${JSON.stringify(said)}`).toBe(false)
    return said.answer
  }
  it.each(questions)('$asked', ({ answer }) => answer(agent, node))
})

describe('over the wire', () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_names' } }
  const send = (body: string, headers: Record<string, string> = {}, method = 'POST') =>
    fetch(`${url}/mcp`, {
      method,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-api-key': api.apiKey,
        ...headers,
      },
      ...(method === 'POST' ? { body } : {}),
    })

  it.each<[string, string, Record<string, string>, number, string]>([
    ['what is not JSON', '{', {}, 400, 'The body is not JSON.'],
    ['a long body', JSON.stringify({ ...call, x: 'x'.repeat(110_000) }), {}, 413, '100 kB at most'],
    ['many messages', JSON.stringify(Array(11).fill(call)), {}, 400, '10 messages at most, not 11'],
    ['a page of a stranger', JSON.stringify(call), { origin: 'https://evil.example' }, 403, 'CORS_ORIGINS'],
    ['a page of nobody', JSON.stringify(call), { origin: 'null' }, 403, 'CORS_ORIGINS'],
  ])('%s is refused in the words of the API', async (_, body, headers, status, words) => {
    const answer = await send(body, headers)
    const said = (await answer.json()) as Record<string, unknown>
    expect([answer.status, said['statusCode']], JSON.stringify(said)).toEqual([status, status])
    expect(said['message']).toContain(words)
    expect(said['errorId']).toBe(answer.headers.get('x-request-id'))
  })

  it.each(['GET', 'DELETE', 'PUT'])('%s is 405: there are no sessions', async method => {
    const answer = await send('', {}, method)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('a page of this machine may ask, and nothing is kept between requests', async () => {
    const answer = await send(JSON.stringify(call), { origin: 'http://localhost:6274' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('mcp-session-id')).toBeNull()
    // Of a stream, as older clients get it, the transport says so itself.
    expect(answer.headers.get('cache-control')).toMatch(/no-(store|cache)/)
    // What a call costs is in its result alone: of several at once a header could not say it.
    expect(answer.headers.get('x-credits-used')).toBeNull()
    expect(await answer.text()).toContain('"credits":{"used":1,')
  })

  it('a message that is no JSON by its type is 415', async () => {
    expect((await send(JSON.stringify(call), { 'content-type': 'text/plain' })).status).toBe(415)
  })
})

describe('arguments of whatever kind', () => {
  const post = async (params: string) => {
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-api-key': api.apiKey,
      },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
      signal: AbortSignal.timeout(20_000),
    })
    return { status: response.status, text: await response.text() }
  }

  it('are no failure of ours, and none hangs', () =>
    fuzzTools(bound, (name, given) => post(JSON.stringify({ name, arguments: given }))))

  it('nor is what is nested as deep as a body can be', () =>
    expectNoFailure('find_vaults', 'deep', name => {
      const deep = `${'['.repeat(45_000)}${']'.repeat(45_000)}`
      return post(`{"name":"${name}","arguments":{"allowedAssets":${deep}}}`)
    }))
})
