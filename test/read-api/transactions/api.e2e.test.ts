import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Address, Hex, LocalAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keyCodeOf } from '../../../db/attribution.ts'
import { BundleShape, ContextShape, RewardsContextShape } from '../../../read-api/transactions/schemas.ts'
import { erc20 } from '../../chain/abis.ts'
import { type Node, startNode } from '../../chain/node.ts'
import { type RpcProxy, startRpcProxy } from '../chain/rpc-proxy.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import * as w from '../world.ts'
import { seatWorld } from '../world-on-chain.ts'
import { openStage, type Stage } from './stage.ts'

const nrt = z.strictObject({
  totalSupply: z.string(),
  totalAssets: z.string(),
  sharePrice: z.number(),
  underlyingAssetPrice: z.number(),
})

/** Milliseconds: longer than two requests one after the other take. */
const BLOCK_TIME = 4_000

describe('over HTTP, signed and sent', () => {
  let node: Node
  let proxy: RpcProxy
  let api: ApiHarness
  let server: Server
  let stage: Stage
  let user: LocalAccount
  let keyCode: string
  let baseUrl: string

  beforeAll(async () => {
    node = await startNode()
    await seatWorld(node)
    proxy = await startRpcProxy(node.rpcUrl)
    api = await startApi({ rpcUrl: proxy.url, blockTimeMs: BLOCK_TIME })
    await w.seed(api, w.makeWorld())
    server = createServer(api.app)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    keyCode = (await api.deps.verifyKey(api.apiKey))?.code ?? ''
    stage = await openStage(node)
    user = privateKeyToAccount(`0x${'5a'.repeat(32)}`)
    await node.rpc('anvil_setBalance', [user.address, '0x56bc75e2d63100000'])
    await stage.mint(
      { address: w.USD_ASSET as Address, symbol: 'USDX', name: '', decimals: 6 },
      user.address,
      5_000_000n,
    )
  })
  afterAll(async () => {
    server?.closeAllConnections()
    server?.close()
    await api?.stop()
    await proxy?.stop()
    await node?.stop()
  })

  async function get(path: string) {
    const response = await fetch(`${baseUrl}${path}`, { headers: { 'x-api-key': api.apiKey } })
    return { status: response.status, headers: response.headers, body: (await response.json()) as unknown }
  }
  const ok = async <S extends z.ZodType>(path: string, schema: S): Promise<z.output<S>> => {
    const { status, body } = await get(path)
    expect(status, JSON.stringify(body)).toBe(200)
    return schema.parse(body)
  }
  const refused = async (path: string, status: number, words: string | RegExp) => {
    const answer = await get(path)
    expect(answer.status, JSON.stringify(answer.body)).toBe(status)
    expect(z.object({ message: z.string() }).parse(answer.body).message).toMatch(words)
    return answer
  }
  const contextPath = () => `/v2/transactions/context/${user.address}/mainnet/${w.USD_VAULT}`
  const actionPath = (action: string, query: string) =>
    `/v2/transactions/${action}/${user.address}/mainnet/${w.USD_VAULT}?${query}`
  const follow = async (url: string) => {
    const { actions, currentActionIndex } = await ok(url, BundleShape)
    for (const { tx } of actions.slice(currentActionIndex)) {
      const { landed, input } = await stage.sign(user, {
        ...tx,
        to: tx.to as Address,
        data: (tx.data ?? '0x') as Hex,
      })
      expect(landed).toBe(true)
      expect(keyCodeOf(input)).toBe(keyCode)
    }
  }

  test('context, its actionsUrl, the bundle, the chain, the context again', async () => {
    const before = await ok(contextPath(), ContextShape)
    expect(before).toMatchObject({
      currentDepositStep: 'deposit',
      currentRedeemStep: 'redeem',
      lpToken: { balanceNative: '0' },
      asset: { balanceNative: '5000000', positionValueInAsset: '0' },
    })
    await follow(`${before.depositSteps[0]?.actionsUrl}&amount=3000000`)
    const after = await ok(contextPath(), ContextShape)
    expect(after).toMatchObject({
      lpToken: { balanceNative: '3000000000000000000' },
      asset: { balanceNative: '2000000', positionValueInAsset: '3000000' },
    })
    await follow(`${after.redeemSteps[0]?.actionsUrl}&all=true`)
    expect(await ok(contextPath(), ContextShape)).toMatchObject({
      lpToken: { balanceNative: '0' },
      asset: { balanceNative: '5000000' },
    })
  })

  test('simulate=true says what is spent and received', async () => {
    const { actions } = await ok(
      actionPath('deposit', `assetAddress=${w.USD_ASSET}&amount=1000000&simulate=true`),
      BundleShape,
    )
    expect(actions.at(-1)?.simulation).toMatchObject({
      status: 'success',
      tokensSpent: { [(await ok(contextPath(), ContextShape)).asset.symbol]: '1000000' },
      tokensReceived: { sUSDX: '1000000000000000000' },
    })
  })

  test('the suffix is that of the key', async () => {
    const { suffix } = await ok(
      `/v2/transactions/suffix/${user.address}/${w.USD_VAULT}`,
      z.object({ suffix: z.string() }),
    )
    expect(keyCodeOf(`0xa9059cbb${suffix}`)).toBe(keyCode)
    expect(suffix.endsWith('80218021802180218021802180218021')).toBe(true)
  })

  test('near-real-time figures are those of the block that the header names', async () => {
    const { status, headers, body } = await get(`/v2/nrt/vault/mainnet/${w.USD_VAULT}`)
    expect(status, JSON.stringify(body)).toBe(200)
    const block = Number(/^mainnet=(\d+)$/.exec(headers.get('x-as-of-block') ?? '')?.[1])
    const read = { address: w.USD_VAULT as Address, abi: erc20, blockNumber: BigInt(block) }
    const supply = await node.client.readContract({ ...read, functionName: 'totalSupply' })
    const held = await node.client.readContract({
      ...read,
      address: w.USD_ASSET as Address,
      functionName: 'balanceOf',
      args: [w.USD_VAULT as Address],
    })
    expect(nrt.parse(body)).toEqual({
      totalSupply: String(supply),
      totalAssets: String(held),
      sharePrice: 1,
      underlyingAssetPrice: 1,
    })
    const nested = await ok(`/v2/nrt/vault/eip155:1/${w.NESTED_VAULT}`, nrt)
    // The asset is the share of the USD vault: its price is that vault's share price times the feed's.
    expect(nested.underlyingAssetPrice).toBe(1)
    expect(await ok(`/v2/nrt/vault/mainnet/${w.USD_VAULT}/sharePrice`, z.unknown())).toEqual({
      sharePrice: 1,
    })
    expect((await ok(`/v2/nrt/vault/mainnet/${w.ETH_VAULT}`, nrt)).underlyingAssetPrice).toBe(3_000)
  })

  test('400 for what cannot be read, 422 for what cannot be done, each with the reason', async () => {
    const asset = `assetAddress=${w.USD_ASSET}`
    await refused(actionPath('deposit', `${asset}&amount=1.5`), 400, 'base units')
    await refused(actionPath('deposit', `${asset}&amount=-1`), 400, 'base units')
    await refused(actionPath('deposit', 'amount=1'), 400, 'assetAddress')
    await refused(actionPath('steal', `${asset}&amount=1`), 400, 'request-redeem')
    await refused(actionPath('deposit', `${asset}&amount=1&slippage=3`), 400, 'slippage')
    await refused(actionPath('deposit', `${asset}&amount=1&all=true`), 422, 'exclude each other')
    await refused(actionPath('deposit', asset), 422, 'amount or all=true')
    await refused(actionPath('deposit', `${asset}&amount=5000001`), 422, 'holds 5000000')
    await refused(actionPath('deposit', `assetAddress=${w.ETH_ASSET}&amount=1`), 422, 'assetAddress must be')
    await refused(actionPath('request-redeem', `${asset}&amount=1`), 422, 'has no request-redeem')
    await refused(actionPath('redeem', `${asset}&all=true`), 422, 'holds no')
    await refused(`/v2/transactions/rewards/claim/${user.address}?claimIds=abc`, 422, 'Not claimable')
    await refused(
      `/v2/transactions/context/${user.address}/mainnet/0x${'99'.repeat(20)}`,
      404,
      'There is no vault',
    )
  })

  test('rewards have a key for every network', async () => {
    const { claimable } = await ok(`/v2/transactions/rewards/context/${user.address}`, RewardsContextShape)
    expect(Object.keys(claimable)).toHaveLength(22)
  })

  test('503 with Retry-After while the chain cannot be reached', async () => {
    proxy.set('fail')
    try {
      await new Promise(resolve => setTimeout(resolve, BLOCK_TIME + 100))
      for (const path of [`/v2/nrt/vault/mainnet/${w.USD_VAULT}`, contextPath()]) {
        const { headers } = await refused(path, 503, 'mainnet cannot be reached')
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
        expect(headers.get('x-credits-used')).toBe('0')
      }
      const { body } = await get(`/v2/transactions/rewards/context/${user.address}`)
      expect(body).not.toHaveProperty('statusCode')
    } finally {
      proxy.set('ok')
    }
    await ok(contextPath(), ContextShape)
  })

  test('latency with an RPC of 50 ms', async () => {
    proxy.delay(50)
    const figures: string[] = []
    const measure = async (name: string, path: string, count: number) => {
      const [requests, started] = [proxy.requests, performance.now()]
      const times = await Promise.all(
        Array.from({ length: count }, async () => {
          const { status } = await get(path)
          expect(status).toBe(200)
          return performance.now() - started
        }),
      )
      times.sort((a, b) => a - b)
      const at = (q: number) => (times[Math.min(count - 1, Math.floor(q * count))] ?? 0).toFixed(0)
      figures.push(
        `${name}: p50 ${at(0.5)} ms, max ${at(1)} ms, ${proxy.requests - requests} RPC calls for ${count}`,
      )
      return proxy.requests - requests
    }
    const pause = () => new Promise(resolve => setTimeout(resolve, BLOCK_TIME + 100))
    const nrtPath = `/v2/nrt/vault/mainnet/${w.USD_VAULT}`
    const bundlePath = actionPath('deposit', `assetAddress=${w.USD_ASSET}&amount=1000000`)
    await pause()
    const cold = `/v2/nrt/vault/mainnet/${w.ODD_VAULT}/sharePrice`
    await measure('nrt cold (vault never seen)', cold, 1)
    await pause()
    await measure('nrt, block expired', nrtPath, 1)
    expect(await measure('nrt warm', nrtPath, 1)).toBe(0)
    await pause()
    expect(await measure('nrt, 100 concurrent, block expired', nrtPath, 100)).toBeLessThanOrEqual(10)
    await measure('bundle', bundlePath, 1)
    await measure('bundle again', bundlePath, 1)
    await measure('bundle, 100 concurrent', bundlePath, 100)
    const holder = contextPath().replace(user.address, w.ALICE)
    await measure('context of a holder, 100 concurrent', holder, 100)
    console.info(figures.join('\n'))
    proxy.delay(0)
  })
})
