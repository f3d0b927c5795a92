import type { Address } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { networks } from '../../../db/networks.ts'
import { type ChainReaderOptions, createChainReader } from '../../../read-api/chain/reader.ts'
import { view } from '../../../read-api/chain/view.ts'
import { erc20, erc4626 } from '../../chain/abis.ts'
import { calls, deployVault, deposit, donateYield, type Vault } from '../../chain/deploy.ts'
import { placeMulticall3 } from '../../chain/multicall.ts'
import { type Node, startNode } from '../../chain/node.ts'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.ts'

let node: Node
let first: RpcProxy
let second: RpcProxy
let vault: Vault

beforeAll(async () => {
  node = await startNode()
  await placeMulticall3(node)
  first = await startRpcProxy(node.rpcUrl)
  second = await startRpcProxy(node.rpcUrl)
  vault = await deployVault(node, { assetDecimals: 6, offset: 12 })
  await deposit(node, { vault, user: node.accounts[11] ?? '0x', assets: 1_000_000n })
})
afterAll(async () => {
  await first?.stop()
  await second?.stop()
  await node?.stop()
})
beforeEach(() => {
  first.set('ok')
  second.set('ok')
  first.delay(0)
  second.delay(0)
})

const readerOf = (options: Partial<ChainReaderOptions> = {}) =>
  createChainReader({
    rpc: { mainnet: [first.url, second.url] },
    blockTime: { mainnet: 60_000 },
    timeoutMs: 5_000,
    deadlineMs: 20_000,
    ...options,
  })

const supply = () => view(erc20, vault.address, 'totalSupply', [])
const assets = () => view(erc4626, vault.address, 'totalAssets', [])
const balanceOf = (n: number) => view(erc20, vault.address, 'balanceOf', [node.accounts[n] ?? '0x'])

describe('one block', () => {
  test('values of one read, and of later reads while the block is young, are of the same block', async () => {
    const reader = readerOf()
    const { block, values } = await reader.read('mainnet', { supply: supply(), assets: assets() })
    const head = await node.head()
    expect(block).toEqual({ number: BigInt(head.number), timestamp: head.timestamp })
    expect(values).toEqual({ supply: 10n ** 18n, assets: 1_000_000n })
    await donateYield(node, { vault, assets: 500_000n })
    // Another value, asked for later: the former block's, not a mixture.
    const again = await reader.read('mainnet', {
      assets: assets(),
      price: view(erc4626, vault.address, 'convertToAssets', [10n ** 18n]),
    })
    expect(again.block).toEqual(block)
    expect(again.values).toEqual({ assets: 1_000_000n, price: 1_000_000n })
    const fresh = await reader.read('mainnet', { assets: assets() }, { age: 'fresh' })
    expect(fresh.values.assets).toBe(1_500_000n)
    const past = await reader.read('mainnet', { assets: assets() }, { block: block.number })
    expect(past.values.assets).toBe(1_000_000n)
  })

  test('nothing is kept longer than the time between blocks', async () => {
    const reader = readerOf({ blockTime: { mainnet: 80 } })
    const { block } = await reader.read('mainnet', { supply: supply() })
    await node.mine()
    await new Promise(resolve => setTimeout(resolve, 90))
    expect((await reader.read('mainnet', { supply: supply() })).block.number).toBe(block.number + 1n)
  })

  test('nor where the clock is set back by an hour meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
    try {
      const reader = readerOf({ blockTime: { mainnet: 80 } })
      const { block } = await reader.read('mainnet', { supply: supply() })
      vi.useRealTimers()
      await node.mine()
      await new Promise(resolve => setTimeout(resolve, 90))
      const again = await reader.read('mainnet', { supply: supply() })
      expect(again.block.number).toBe(block.number + 1n)
    } finally {
      vi.useRealTimers()
    }
  })

  test('a revert, an account without code and an answer of another form are undefined, the rest is read', async () => {
    const reader = readerOf()
    const nobody: Address = '0x00000000000000000000000000000000000000aa'
    const { values } = await reader.read('mainnet', {
      supply: supply(),
      reverting: view(erc4626, vault.address, 'redeem', [1n, nobody, nobody]),
      missing: view(erc20, nobody, 'totalSupply', []),
      otherForm: view(erc20, vault.asset.address, 'name', []),
      notAString: { ...view(erc20, vault.address, 'name', []), data: supply().data },
    })
    expect(values).toMatchObject({ supply: 10n ** 18n, reverting: undefined, missing: undefined })
    expect(values.notAString).toBeUndefined()
    expect(typeof values.otherForm).toBe('string')
  })
})

test.each(['arbitrum', 'robinhood'] as const)(
  "%s: the block is the chain's own, as ArbSys says",
  async name => {
    const chain = await startNode({ chainId: networks[name].chainId })
    try {
      await placeMulticall3(chain)
      // Answers 7,777: PUSH2, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN.
      await chain.rpc('anvil_setCode', ['0x0000000000000000000000000000000000000064', '0x611e615f5260205ff3'])
      const { block } = await readerOf({ rpc: { [name]: [chain.rpcUrl] } }).read(name, {})
      expect(block.number).toBe(7_777n)
    } finally {
      await chain.stop()
    }
  },
)

describe('callers share calls', () => {
  test('a hundred at once make one request, and a hundred more of the same none', async () => {
    const reader = readerOf()
    const before = first.requests
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, n) => reader.read('mainnet', { a: assets(), b: balanceOf(n % 40) })),
    )
    expect(new Set(results.map(({ block }) => block.number)).size).toBe(1)
    expect(first.requests - before).toBe(1)
    await Promise.all(Array.from({ length: 100 }, () => reader.read('mainnet', { a: assets() })))
    expect(first.requests - before).toBe(1)
  })

  test('callers who come while the block is being fetched wait for it', async () => {
    first.delay(60)
    const reader = readerOf()
    const before = first.requests
    const waves = [0, 20, 40].map(async ms => {
      await new Promise(resolve => setTimeout(resolve, ms))
      return reader.read('mainnet', { a: assets() })
    })
    await Promise.all(waves)
    expect(first.requests - before).toBe(1)
  })

  test('second reads of the same block are shared too', async () => {
    const reader = readerOf({ blockTime: { mainnet: 0 } })
    const before = first.requests
    const values = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const { block } = await reader.read('mainnet', { a: assets() }, { age: 'fresh' })
        return reader.read('mainnet', { b: balanceOf(n % 40) }, { block: block.number })
      }),
    )
    expect(new Set(values.map(({ block }) => block.number)).size).toBe(1)
    expect(first.requests - before).toBe(2)
  })

  test('many reads are divided and still of one block; one that eats all gas spoils no other', async () => {
    const reader = readerOf({ batchSize: 16 })
    const views = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`${n}`, balanceOf(n)]))
    // INVALID uses up all the gas it is given.
    const loop: Address = '0x0000000000000000000000000000000000001009'
    await node.rpc('anvil_setCode', [loop, '0xfe'])
    const reading = await reader.read('mainnet', { ...views, loop: view(erc20, loop, 'totalSupply', []) })
    const values = reading.values as Record<string, unknown>
    expect(values['11']).toBe(10n ** 18n)
    expect(values['loop']).toBeUndefined()
    expect(Object.values(values).filter(value => value === 0n)).toHaveLength(39)
  })
})

describe('endpoints that fail', () => {
  test.each(['fail', 'hang', 'nonsense', 'limited'] as const)(
    '%s: the other answers, and is asked first from then on',
    async mode => {
      const reader = readerOf(mode === 'hang' ? { timeoutMs: 3_000 } : {})
      first.set(mode)
      const { values } = await reader.read('mainnet', { supply: supply() })
      expect(values.supply).toBe(10n ** 18n)
      const before = first.requests
      await reader.read('mainnet', { supply: supply() }, { age: 'fresh' })
      expect(first.requests).toBe(before)
    },
  )

  test('none answers: 503 with Retry-After, within the deadline', async () => {
    const reader = readerOf({ deadlineMs: 500, timeoutMs: 60_000 })
    first.set('hang')
    second.set('hang')
    const started = Date.now()
    await expect(reader.read('mainnet', { supply: supply() })).rejects.toMatchObject({
      status: 503,
      retryAfter: 5,
      retryable: true,
    })
    expect(Date.now() - started).toBeLessThan(20_000)
    first.set('ok')
    expect((await readerOf().read('mainnet', { supply: supply() })).values.supply).toBe(10n ** 18n)
  })

  test('a network without endpoints, an endpoint of another chain', async () => {
    // At once: there are no other callers that it could be asked together with.
    const patient = readerOf({ windowMs: 3_600_000 })
    await expect(patient.read('base', { supply: supply() })).rejects.toMatchObject({ status: 503 })
    const wrong = readerOf({ rpc: { base: [node.rpcUrl] } })
    await expect(wrong.read('base', { supply: supply() })).rejects.toMatchObject({ status: 503 })
  })

  test('a block that the node does not have, lost or not yet there: 503 where it and no other is wanted', async () => {
    const reader = readerOf()
    await node.mineEmpty(3)
    const { block } = await reader.read('mainnet', { supply: supply() })
    await node.rollback(2)
    // Anvil says -32602, as if the request were at fault.
    for (const wanted of [block.number, block.number + 1_000n]) {
      await expect(
        reader.read('mainnet', { assets: assets(), supply: supply() }, { block: wanted }),
      ).rejects.toMatchObject({ status: 503, retryable: true })
    }
    await node.mineEmpty(2)
  })

  test('a node that has lost the block of the snapshot: everything is read anew', async () => {
    const reader = readerOf()
    await node.mineEmpty(3)
    const { block } = await reader.read('mainnet', { supply: supply() })
    await node.rollback(2)
    const again = await reader.read('mainnet', { supply: supply(), assets: assets() })
    expect(again.block.number).toBeLessThan(block.number)
    expect(again.values.supply).toBe(10n ** 18n)
    await node.send(
      calls.mintToken(node.accounts[0] ?? '0x', vault.asset.address, node.accounts[12] ?? '0x', 1n),
    )
    await node.mine()
  })
})
