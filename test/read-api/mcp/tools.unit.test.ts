import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../db/process/errors.ts'
import { loadEndpoints } from '../../../read-api/http/load-endpoints.ts'
import { bindTools } from '../../../read-api/mcp/bind.ts'
import { requestOf } from '../../../read-api/mcp/request.ts'
import { tools } from '../../../read-api/mcp/tools.ts'
import * as w from '../world.ts'

const endpoints = await loadEndpoints()
const bound = bindTools(tools, endpoints)
const named = (name: string) => {
  const found = bound.find(({ tool }) => tool.name === name)
  if (!found) throw new Error(`no tool ${name}`)
  return found
}
const ask = (name: string, given: Record<string, unknown>) => requestOf(named(name), given)
const vault = { network: 'mainnet', vaultId: w.USD_VAULT }

describe('what an agent is told', () => {
  it('names an endpoint that there is, or says so', () => {
    const wrong = { name: 'x', description: 'x', asks: 'GET /v2/vault' }
    expect(() => bindTools([wrong], endpoints)).toThrow(ConfigError)
  })

  it('has names of words and no tool that signs, sends or executes', () => {
    for (const { tool, routes } of bound) {
      expect(tool.name).toMatch(/^[a-z]+(_[a-z]+)*$/)
      for (const { path, endpoint } of routes.values()) {
        expect(path).not.toMatch(/intent|execute|submit|send/)
        // What is posted is what is selected.
        if (endpoint.method === 'post') expect(path).toContain('analytics')
      }
    }
  })

  it('requires nothing that one of its endpoints does not take', () => {
    for (const { inputSchema, routes } of bound)
      for (const name of (inputSchema['required'] ?? []) as string[])
        for (const { endpoint } of routes.values())
          expect([
            ...Object.keys(endpoint.params?.shape ?? {}),
            ...Object.keys(endpoint.query?.shape ?? {}),
          ]).toContain(name)
  })
})

describe('arguments become a request', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['get_vault', vault, `/v2/detailed-vaults/mainnet/${w.USD_VAULT}`],
    [
      'get_vault',
      { kind: 'vaults', network: 'eip155:1', vaultId: 'a/b' },
      '/v2/detailed-vaults/eip155%3A1/a%2Fb',
    ],
    ['find_vaults', {}, '/v2/detailed-vaults?perPage=10'],
    ['find_vaults', { perPage: 3, page: null }, '/v2/detailed-vaults?perPage=3'],
    [
      'find_vaults',
      { allowedAssets: ['USDX', 'WETH'], onlyTransactional: true, minApy: 0.05 },
      '/v2/detailed-vaults?allowedAssets=USDX&allowedAssets=WETH&onlyTransactional=true&minApy=0.05&perPage=10',
    ],
    ['find_vaults', { kind: 'fixedTerm' }, '/beta/fixed-term?perPage=10'],
    // What the endpoint does not know it refuses itself, by name.
    ['get_vault', { ...vault, aply: '1' }, `/v2/detailed-vaults/mainnet/${w.USD_VAULT}?aply=1`],
    ['list_names', { of: 'tags' }, '/v2/tags'],
  ])('%s %o', (name, given, path) => {
    expect(ask(name, given)).toEqual({ method: 'GET', path })
  })

  it('and the fields of a body its body', () => {
    expect(ask('analyze_vault', { ...vault, select: { maxDrawdown: true } })).toEqual({
      method: 'POST',
      path: `/beta/advanced-analytics/mainnet/${w.USD_VAULT}`,
      body: '{"select":{"maxDrawdown":true}}',
    })
  })

  it.each<[string, Record<string, unknown>, string | RegExp]>([
    ['get_vault', { network: 'mainnet' }, 'The path parameter "vaultId" is missing: it is required.'],
    ['get_vault', { ...vault, network: '' }, /"network" must be one of mainnet, .* not ""/],
    [
      'get_vault',
      { ...vault, kind: 'solanna' },
      /"kind" must be one of .*, not "solanna". Did you mean "solana"\?/,
    ],
    ['find_vaults', { perPage: 500 }, 'must be an integer from 1 to 100, not "500"'],
    [
      'find_vaults',
      { minTvl: { from: 1 } },
      '"minTvl" must be a text, a number, a boolean, or a list of them',
    ],
    ['find_vaults', { allowedAssets: ['x'.repeat(13_000)] }, 'too long: 12 kB at most'],
    // 2^53 + 1 is 2^53 by the time that anybody sees it.
    [
      'prepare_transaction',
      { ...vault, userAddress: w.ALICE, action: 'deposit', amount: 2 ** 53 },
      '"amount" is a number beyond 2^53, which arrives rounded: send it as a string of digits.',
    ],
  ])('%s %o is refused in words', (name, given, message) => {
    expect(() => ask(name, given)).toThrow(message)
  })
})
