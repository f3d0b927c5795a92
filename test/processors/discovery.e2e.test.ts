import type pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { networks } from '../../db/networks.ts'
import { recheckNext } from '../../processors/checking/recheck.ts'
import { calls, deployVault, deposit, type Vault } from '../chain/deploy.ts'
import { type Node, startNode } from '../chain/node.ts'
import { createPipeline, differencesFromChain, type Pipeline } from '../pipeline.ts'
import { startRpcProxy } from '../read-api/chain/rpc-proxy.ts'

const FINALITY = 5
/** More than a batch goes back for a contract that it meets. */
const LONG = 10_100

let node: Node
let pipeline: Pipeline
let following: ReturnType<Pipeline['follow']> | undefined
beforeAll(async () => {
  node = await startNode()
  pipeline = await createPipeline()
})
afterAll(async () => {
  await following?.stop().catch(() => {})
  await pipeline?.drop()
  await node?.stop()
})

const user = () => node.accounts[1] ?? '0x'

async function stored({ address }: Vault, type: string): Promise<number[]> {
  const { rows } = await pipeline.postgres.pool.query<{ block: number }>(
    `SELECT block_number AS block FROM event_log e WHERE type = $2 AND contract = decode(substr($1, 3), 'hex')
       AND NOT EXISTS (SELECT FROM event_log r WHERE r.type = 'BlockRetracted'
         AND e.position BETWEEN (r.data->>'fromPosition')::bigint AND (r.data->>'toPosition')::bigint)
     ORDER BY 1`,
    [address, type],
  )
  return rows.map(({ block }) => block)
}

const waiting = async () =>
  (
    await pipeline.postgres.pool.query<{ contract: string; cursor: number }>(
      'SELECT contract, cursor FROM older_logs',
    )
  ).rows

it('an old contract that says its first word costs a batch no more than a new one: what is older comes beside', async () => {
  const known = await deployVault(node, { symbol: 'KNOWN' })
  const unknown = await deployVault(node, { symbol: 'UNKNOWN' })
  const said: number[] = []
  for (const { address } of [known, unknown]) {
    await node.send(calls.transfer(user(), address, node.accounts[2] ?? '0x', 0n))
    said.push((await node.mine()).number)
  }
  for (let i = 0; i < LONG; i += 500)
    await node.client.request({ method: 'anvil_mine', params: ['0x1f4', '0xc'] } as never)
  let isForgetful = false
  const proxy = await startRpcProxy(
    node.rpcUrl,
    0,
    ({ method, params }) =>
      isForgetful && method === 'eth_getCode' && /0x/.test(String((params as unknown[])[1])),
  )
  // Unlike all others, a batch asks of what it meets without topics.
  const askedByBatches = (address: string) =>
    proxy.calls
      .filter(({ method }) => method === 'eth_getLogs')
      .map(({ params }) => (params as { fromBlock: string; topics?: unknown; address?: string[] }[])[0])
      .flatMap(asked =>
        asked && !asked.topics && asked.address?.includes(address) ? [Number(asked.fromBlock)] : [],
      )
  const options = { rpcUrl: proxy.url, finality: FINALITY }
  following = pipeline.follow(options)
  await following.reached((await node.head()).number)
  try {
    for (const vault of [known, unknown]) {
      isForgetful = vault === unknown
      await deposit(node, { vault, user: user(), assets: 10n ** 18n })
      const { number } = await node.head()
      await following.reached(number)
      const asked = askedByBatches(vault.address)
      expect(asked.length).toBeGreaterThan(0)
      expect(Math.min(...asked)).toBeGreaterThanOrEqual(number - 10_000)
      expect(await stored(vault, 'Deposited')).toEqual([number])
      // What strangers bring does not keep the store from being compared with the chain.
      if ((await waiting()).length > 0)
        expect(
          (await recheckNext(pipeline.postgres.pool, networks.mainnet, [node.rpcUrl], {}))?.equal ?? true,
        ).toBe(true)
    }
    await expect
      .poll(
        async () => {
          await node.mine()
          await following?.reached((await node.head()).number)
          return waiting()
        },
        { timeout: 300_000, interval: 50 },
      )
      .toEqual([])
    for (const [i, vault] of [known, unknown].entries()) {
      const [, ...later] = await stored(vault, 'ShareTransferred')
      expect((await stored(vault, 'ShareTransferred'))[0]).toBe(said[i])
      expect(later).toEqual(await stored(vault, 'Deposited'))
    }
  } finally {
    await following.stop()
    await proxy.stop()
  }
  const { number } = await node.head()
  expect(await differencesFromChain(pipeline.postgres.pool, node.rpcUrl, number)).toEqual([])
}, 500_000)

it('contracts met at the head cost no second reading of what is known, nor does a fork that takes them back', async () => {
  const query = vi.spyOn(pipeline.postgres.pool as pg.Pool, 'query')
  const readings = () =>
    query.mock.calls.filter(([statement]) => String(statement).includes('t.stream = $1 ORDER BY position'))
      .length
  following = pipeline.follow({ rpcUrl: node.rpcUrl, finality: FINALITY })
  await following.reached((await node.head()).number)
  await node.mine()
  await following.reached((await node.head()).number)
  expect(readings()).toBe(1)
  const vaults: Vault[] = []
  for (const symbol of ['A', 'B', 'C']) {
    const vault = await deployVault(node, { symbol })
    vaults.push(vault)
    await deposit(node, { vault, user: user(), assets: 10n ** 18n })
    await following.reached((await node.head()).number)
  }
  // A fork between two runs is another matter.
  await node.mine()
  await following.reached((await node.head()).number)
  await node.reorg(2)
  for (let i = 0; i < 4; i++) await node.mine()
  for (const vault of vaults) await deposit(node, { vault, user: user(), assets: 10n ** 18n })
  const { number } = await node.head()
  await following.reached(number)
  await following.stop()
  for (const vault of vaults) expect(await stored(vault, 'VaultDiscovered')).toHaveLength(1)
  expect(readings()).toBe(1)
  query.mockRestore()
  expect(await differencesFromChain(pipeline.postgres.pool, node.rpcUrl, number)).toEqual([])
}, 500_000)
