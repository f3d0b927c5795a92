import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { SUPPORTED_NETWORKS, VaultsSdk } from '@vaultsfyi/sdk'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { networkIds } from '../../db/networks.ts'
import { checksum } from '../../read-api/http/amounts.ts'
import { serve } from '../../read-api/http/serve.ts'
import { type Node, startNode } from '../chain/node.ts'
import { declaredAnswers, type Schema } from './declared-types.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { expectPublishedPythonWorks, hasPublishedPython } from './published-python.ts'
import * as w from './world.ts'
import { seatWorld } from './world-on-chain.ts'

/**
 * The published client with nothing changed but its base URL: every one of its methods, its answers held to the types
 * that the client itself declares.
 */
const declarations = readFileSync(
  createRequire(import.meta.url)
    .resolve('@vaultsfyi/sdk')
    .replace(/\.js$/, '.d.ts'),
  'utf8',
)
const declared = declaredAnswers(declarations, 'VaultsSdk')
const ajv = new Ajv2020({ allErrors: true, strict: false })

const vault = { network: 'mainnet', vaultId: w.USD_VAULT } as const
const alice = { userAddress: w.ALICE }
const position = { ...alice, ...vault }
const window = { fromTimestamp: w.START + 3 * w.DAY, toTimestamp: w.START + 9 * w.DAY }
const series = { ...window, apyInterval: '1day', granularity: '1day', page: 0, perPage: 5 } as const
const filter = {
  allowedNetworks: ['mainnet' as const, 'base' as const],
  allowedAssets: ['USDX', 'WETH'],
  disallowedProtocols: ['nobody'],
  minTvl: 0,
  maxApy: 5,
  tags: ['Stable'],
  onlyAppFeatured: true,
}

let node: Node
let api: ApiHarness
let server: Awaited<ReturnType<typeof serve>>
let sdk: VaultsSdk
const called = new Set<string>()

beforeAll(async () => {
  node = await startNode()
  await seatWorld(node)
  api = await startApi({ rpcUrl: node.rpcUrl })
  await w.seed(api, w.makeWorld())
  server = await serve(api.app, { port: 0, host: '127.0.0.1' })
  sdk = new VaultsSdk({ apiKey: api.apiKey }, { apiBaseUrl: `http://127.0.0.1:${server.port}` })
})
afterAll(async () => {
  await server?.close()
  await api?.stop()
  await node?.stop()
})

/** Null on the last page is the specification's; the client's type leaves the key out there. */
function withNullPages(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNullPages)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === 'nextPage' ? { type: ['integer', 'null'] } : withNullPages(value),
    ]),
  )
}

function expectDeclared(method: string, answer: unknown): void {
  const schema = declared.get(method)
  expect(schema, `${method} is declared`).toBeDefined()
  const validate = ajv.compile(withNullPages(schema) as Schema)
  expect(validate(answer) ? [] : validate.errors, method).toEqual([])
}

/** Each method once or more, and something that the world says of the answer. */
const calls: Record<string, () => Promise<[answer: unknown, holds: unknown]>> = {
  getHealth: async () => [await sdk.getHealth(), { status: 'ok' }],
  getVaults: async () => [
    await sdk.getVaults({ query: { network: 'mainnet', page: 0, perPage: 2 } }),
    { itemsOnPage: 2, nextPage: 1 },
  ],
  getAssets: async () => [
    await sdk.getAssets({ query: { network: 'mainnet' } }),
    { data: expect.arrayContaining([expect.objectContaining({ symbol: 'WETH', assetGroup: 'ETH' })]) },
  ],
  getBenchmarks: async () => [
    await sdk.getBenchmarks({ path: { network: 'mainnet' }, query: { code: 'usd' } }),
    { apy: null },
  ],
  getHistoricalBenchmarks: async () => [
    await sdk.getHistoricalBenchmarks({
      path: { network: 'mainnet' },
      query: { code: 'eth', ...window, page: 0, perPage: 3 },
    }),
    { itemsOnPage: 3, nextPage: 1 },
  ],
  getVaultHistoricalData: async () => [
    await sdk.getVaultHistoricalData({ path: vault, query: series }),
    { itemsOnPage: 5, nextPage: 1 },
  ],
  getVaultHistoricalApy: async () => [
    await sdk.getVaultHistoricalApy({ path: vault, query: series }),
    { itemsOnPage: 5 },
  ],
  getVaultHistoricalTvl: async () => [
    await sdk.getVaultHistoricalTvl({ path: vault, query: { ...window, granularity: '1day' } }),
    { itemsOnPage: 7, nextPage: null },
  ],
  getVaultHistoricalSharePrice: async () => [
    await sdk.getVaultHistoricalSharePrice({ path: vault, query: series }),
    { data: expect.arrayContaining([expect.objectContaining({ timestamp: window.fromTimestamp })]) },
  ],
  getPositions: async () => [
    await sdk.getPositions({ path: alice, query: { sortBy: 'balanceUsd', apyInterval: '30day' } }),
    { data: expect.arrayContaining([expect.objectContaining({ name: 'Steady USDX' })]) },
  ],
  getPosition: async () => [
    await sdk.getPosition({ path: position, query: { apyInterval: '1day' } }),
    // A million whole units less the one deposited with the node's own vault.
    { name: 'Steady USDX', asset: { balanceNative: '999999000000' } },
  ],
  getDepositOptions: async () => [
    await sdk.getDepositOptions({
      path: alice,
      query: { ...filter, alwaysReturnAssets: ['WETH'], maxVaultsPerAsset: 2 },
    }),
    { requestedAddress: expect.stringMatching(new RegExp(w.ALICE, 'i')) },
  ],
  getAllVaults: async () => [
    await sdk.getAllVaults({ query: { ...filter, sortBy: 'apy7day', sortOrder: 'desc', perPage: 10 } }),
    { itemsOnPage: 1, errors: { unsupportedProtocols: ['nobody'], unsupportedNetworks: ['base'] } },
  ],
  getVault: async () => [
    await sdk.getVault({ path: vault }),
    { name: 'Steady USDX', curator: { name: 'acme' }, tags: ['Stable', 'core'], isAppFeatured: true },
  ],
  getIdleAssets: async () => [
    await sdk.getIdleAssets({ path: alice, query: { allowedNetworks: ['mainnet'] } }),
    {
      data: expect.arrayContaining([
        expect.objectContaining({ symbol: 'USDX', balanceNative: '999999000000' }),
      ]),
    },
  ],
  getTransactionsContext: async () => [
    await sdk.getTransactionsContext({ path: position }),
    { currentDepositStep: 'deposit', asset: { balanceNative: '999999000000' } },
  ],
  getTransactionSuffix: async () => [
    await sdk.getTransactionSuffix({ path: { ...alice, vaultId: w.USD_VAULT } }),
    { suffix: expect.stringMatching(/^[0-9a-f]+80218021802180218021802180218021$/) },
  ],
  getActions: async () => [
    await sdk.getActions({
      path: { action: 'deposit', ...position },
      query: { assetAddress: w.USD_ASSET, amount: '1000000', simulate: true },
    }),
    // Approved already, so the deposit is what is left to do.
    { currentActionIndex: 1, actions: [{ tx: { chainId: 1 } }, { tx: { chainId: 1 } }] },
  ],
  getRewardsTransactionsContext: async () => [
    await sdk.getRewardsTransactionsContext({ path: alice }),
    {
      claimable: { mainnet: [], robinhood: [] },
      actionUrl: `/v2/transactions/rewards/claim/${checksum(w.ALICE)}?claimIds=`,
    },
  ],
  getRewardsClaimActions: async () => [
    await sdk.getRewardsClaimActions({ path: alice, query: { claimIds: [''] } }),
    { mainnet: { actions: [] } },
  ],
  getUserVaultEvents: async () => [
    await sdk.getUserVaultEvents({ path: position }),
    { items: 1, data: [{ eventType: 'deposit', lpTokenAmount: String(5_000n * 10n ** 18n) }] },
  ],
  getUserVaultTotalReturns: async () => [
    await sdk.getUserVaultTotalReturns({ path: position }),
    { symbol: 'USDX', returnsNative: expect.stringMatching(/^\d+$/) },
  ],
  getNetworks: async () => [await sdk.getNetworks(), expect.arrayContaining([{ ...networkIds[0] }])],
  getProtocols: async () => [
    await sdk.getProtocols(),
    expect.arrayContaining([expect.objectContaining({ name: 'morpho', product: 'blue', version: 'v1' })]),
  ],
  getCurators: async () => [
    await sdk.getCurators(),
    [expect.objectContaining({ name: 'acme', displayName: 'Acme Capital' })],
  ],
  getTags: async () => [await sdk.getTags(), ['Stable', 'core']],
  getVaultApyBreakdown: async () => [await sdk.getVaultApyBreakdown({ path: vault }), {}],
  getVaultTvl: async () => [
    await sdk.getVaultTvl({ path: vault }),
    { native: expect.stringMatching(/^\d+$/) },
  ],
  getBestVault: async () => [
    await sdk.getBestVault({ path: alice, query: { minTvl: 1, apyInterval: '7day' } }),
    { vault: { name: 'Steady USDX' } },
  ],
  getAssetPriceHistory: async () => [
    await sdk.getAssetPriceHistory({
      path: { network: 'mainnet', assetAddress: w.ETH_ASSET },
      query: { ...window, granularity: '1day' },
    }),
    { itemsOnPage: 7 },
  ],
  getVaultNrt: async () => [await sdk.getVaultNrt({ path: vault }), { totalAssets: '1000000' }],
  getVaultNrtSharePrice: async () => [await sdk.getVaultNrtSharePrice({ path: vault }), { sharePrice: 1 }],
  getVaultNrtTotalSupply: async () => [
    await sdk.getVaultNrtTotalSupply({ path: vault }),
    { totalSupply: String(10n ** 18n) },
  ],
  getVaultNrtTotalAssets: async () => [
    await sdk.getVaultNrtTotalAssets({ path: vault }),
    { totalAssets: '1000000' },
  ],
  getVaultNrtUnderlyingAssetPrice: async () => [
    await sdk.getVaultNrtUnderlyingAssetPrice({ path: vault }),
    { underlyingAssetPrice: 1 },
  ],
}

describe('the published client, pointed at this API', () => {
  it.each(Object.keys(calls))('%s', async method => {
    const [answer, holds] = (await calls[method]?.()) ?? []
    called.add(method)
    expectDeclared(method, answer)
    if (Array.isArray(answer)) expect(answer).toEqual(holds)
    else expect(answer).toMatchObject(holds as object)
  })

  it('has no method that was not called', () => {
    const methods = Object.getOwnPropertyNames(VaultsSdk.prototype).filter(
      name => name !== 'constructor' && name !== 'fetchData',
    )
    expect([...called].sort()).toEqual(methods.sort())
    expect([...declared.keys()].filter(name => name.startsWith('get')).sort()).toEqual(methods.sort())
  })

  it('knows the networks that we know', async () => {
    expect((await sdk.getNetworks()).map(({ name }) => name).sort()).toEqual([...SUPPORTED_NETWORKS].sort())
  })

  it('gets our messages as its errors', async () => {
    const base = { apiBaseUrl: `http://127.0.0.1:${server.port}` }
    await expect(new VaultsSdk({ apiKey: 'nobody' }, base).getTags()).rejects.toThrow(/not known/)
    await expect(
      sdk.getVault({ path: { network: 'mainnet', vaultId: `0x${'9'.repeat(40)}` } }),
    ).rejects.toThrow(/no vault/i)
  })

  it('refuses answers that are not as declared', () => {
    // The check itself must be able to fail.
    expect(() => expectDeclared('getVaultTvl', { usd: 1, native: '1' })).toThrow()
    expect(() =>
      expectDeclared('getVaultNrt', { totalSupply: '1', totalAssets: '1', sharePrice: 1 }),
    ).toThrow()
  })
})

it.skipIf(!hasPublishedPython)(
  'so does every method of the published Python client, where that is installed (pip install vaultsfyi)',
  () => expectPublishedPythonWorks(`http://127.0.0.1:${server.port}`, api.apiKey),
)
