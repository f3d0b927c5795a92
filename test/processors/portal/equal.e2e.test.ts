import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { networks } from '../../../db/networks.ts'
import { readStatus } from '../../../db/status.ts'
import { runChain } from '../../../processors/chain-processor.ts'
import { recheckNext } from '../../../processors/checking/recheck.ts'
import { loadProtocols } from '../../../processors/load-protocols.ts'
import type { Protocol } from '../../../processors/protocol.ts'
import { openPortal } from '../../../processors/source/portal-client.ts'
import { ownArtifacts } from '../../chain/compile.ts'
import { calls, deployVault, deposit, sendDeployment, type Vault } from '../../chain/deploy.ts'
import { placeMulticall3 } from '../../chain/multicall.ts'
import { type Node, startNode } from '../../chain/node.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'
import { start } from '../../faults/command.ts'
import { type GatewayBlock, memoryBlocks } from '../../gateway/blocks.ts'
import { startGateway } from '../../gateway/server.ts'
import { differencesFromChain } from '../../pipeline.ts'
import { blocksOfNode } from '../../portal/anvil.ts'
import { evmDataset } from '../../portal/evm.ts'
import { startPortal, type TestPortal } from '../../portal/server.ts'

/** Of logs: half of them deposits, half transfers of shares. */
const EVENTS = 50_000
const DEPOSITS_IN_A_BLOCK = 100
/** Blocks with many deposits between two vaults that nobody has heard of. */
const BETWEEN = 25
const FINALITY = 20
const network = networks.mainnet

let node: Node
let blocks: GatewayBlock[]
let protocols: Protocol[]
let last: number
let portal: TestPortal
const vaults: Vault[] = []
const stores: TestPostgres[] = []
const undo: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  node = await startNode()
  protocols = await loadProtocols()
  await placeMulticall3(node)
  const [owner, user] = node.accounts
  if (!owner || !user) throw new TypeError('a node without accounts')
  const vault = await deployVault(node, { assetDecimals: 6, symbol: 'busy' })
  vaults.push(vault)
  const burst = await sendDeployment(node, ownArtifacts().DepositBurst, [vault.address])
  await node.mine()
  await node.send(calls.mintToken(owner, vault.asset.address, burst, 10n ** 30n))
  await node.mine()
  for (let first = 0; first < EVENTS / 2; first += DEPOSITS_IN_A_BLOCK) {
    const args = [vault.address, BigInt(first), BigInt(DEPOSITS_IN_A_BLOCK)]
    const abi = ownArtifacts().DepositBurst.abi
    const data = encodeFunctionData({ abi, functionName: 'run', args })
    await node.send({ from: owner, to: burst, data, gas: 250_000_000n })
    // An hour has six of these blocks: each vault is sampled for every one of them.
    await node.mine((await node.head()).timestamp + 600)
    if (first % (BETWEEN * DEPOSITS_IN_A_BLOCK) !== 0) continue
    const found = await deployVault(node, { symbol: `late${vaults.length}` })
    vaults.push(found)
    await deposit(node, { vault: found, user, assets: 10n ** 18n })
    // What it says later is known by its address alone.
    await node.mineEmpty(3, 600)
    for (const one of vaults.slice(1)) await node.send(calls.transfer(user, one.address, owner, 5n))
    await node.mine()
  }
  await node.mineEmpty(FINALITY, 12)
  last = (await node.head()).number
  blocks = await blocksOfNode(node, 0, last)
  const dataset = evmDataset(blocks)
  // It is behind, as they are: what it does not have yet comes by RPC, up to the head.
  dataset.top = last - 2 * FINALITY
  portal = await startPortal(dataset, { mostChunks: 3 })
}, 300_000)
afterAll(async () => {
  for (const step of undo) await step()
  for (const store of stores) await store.drop()
  await portal?.close()
  await node?.stop()
})

async function store(): Promise<TestPostgres> {
  const made = await createPostgres()
  stores.push(made)
  return made
}

const common = () => ({
  network,
  protocols,
  rpcUrls: [node.rpcUrl],
  finality: FINALITY,
  startBlock: 0,
  logsPerDay: 1_000_000,
  contracts: { 'chainlink-feed': [] },
})
const clientOf = ({ url }: TestPortal) =>
  openPortal({ network: 'mainnet', urls: [url], firstPause: 10, settings: { url: '', key: '' } })

/** All that is stored, whatever the order in which it came. */
async function sumOf(pool: pg.Pool, upTo = last): Promise<{ events: number; sum: string }> {
  const { rows } = await pool.query<{ events: number; sum: string }>(
    `SELECT count(*)::int AS events, md5(string_agg(concat_ws('|', block_number, block_hash, block_time, log_index, type,
       protocol, contract, tx_hash, data), E'\\n' ORDER BY block_number, log_index, type, contract, data::text)) AS sum
     FROM stream s, stored_events(s.id, 0, s.head) WHERE block_number <= $1`,
    [upTo],
  )
  return rows[0] ?? { events: 0, sum: '' }
}

let byNode: { events: number; sum: string }

it('fifty thousand events by RPC, by a Portal and by a gateway are the same rows, samples included', async () => {
  const gateway = await startGateway({ blocks: memoryBlocks(blocks) })
  undo.push(() => gateway.close())
  const ways = { rpc: {}, portal: { portal: clientOf(portal) }, gateway: { gateway: gateway.url } }
  const sums: Record<string, { events: number; sum: string }> = {}
  for (const [way, source] of Object.entries(ways)) {
    const { pool } = await store()
    await runChain({ ...common(), pool, endBlock: last - FINALITY, ...source })
    sums[way] = await sumOf(pool)
    const { rows } = await pool.query<{ type: string; count: number }>(
      'SELECT type, count(*)::int AS count FROM stream s, stored_events(s.id, 0, s.head) GROUP BY 1',
    )
    const count = (type: string) => rows.find(row => row.type === type)?.count ?? 0
    expect(count('Deposited')).toBe(EVENTS / 2 + vaults.length - 1)
    expect(count('VaultDiscovered')).toBe(vaults.length)
    expect(count('StateSampled')).toBeGreaterThan(300)
    expect(await differencesFromChain(pool, node.rpcUrl, last - FINALITY)).toEqual([])
  }
  expect(sums['portal']).toEqual(sums['rpc'])
  expect(sums['gateway']).toEqual(sums['rpc'])
  byNode = sums['rpc'] ?? byNode
  expect(byNode.events).toBeGreaterThan(EVENTS)
}, 300_000)

it('killed in the middle of it, a processor goes on where it was, by the Portal and then by RPC up to the head', async () => {
  const { pool, url } = await store()
  const slow = await startPortal(
    {
      ...evmDataset(blocks),
      head: () => ({ number: last - 2 * FINALITY, hash: blocks[last - 2 * FINALITY]?.header.hash ?? '' }),
    },
    { mostChunks: 1 },
  )
  undo.push(() => slow.close())
  const run = () =>
    start(['processors/main.ts', 'mainnet'], {
      DATABASE_URL: url,
      RPC_MAINNET: node.rpcUrl,
      PORTAL_MAINNET: slow.url,
      FINALITY_MAINNET: String(FINALITY),
      START_BLOCK_MAINNET: '0',
      LOGS_PER_DAY: '1000000',
      RECHECK_MINUTES: '0',
    })
  const height = async () =>
    (await readStatus(pool, 0)).find(({ name }) => name === 'mainnet')?.headBlock ?? -1
  const stoppedAt: number[] = []
  for (const part of [0.1, 0.4, 0.7]) {
    const running = run()
    while ((await height()) < last * part) await pause(5)
    running.child.kill('SIGKILL')
    await running.ended
    stoppedAt.push(await height())
  }
  expect(Math.max(...stoppedAt)).toBeLessThan(last - 2 * FINALITY)
  const running = run()
  try {
    while ((await height()) < last) await pause(20)
  } finally {
    running.child.kill('SIGTERM')
    await running.ended
  }
  expect(await sumOf(pool, last - FINALITY)).toEqual(byNode)
  expect(await differencesFromChain(pool, node.rpcUrl, last)).toEqual([])
}, 300_000)

it('a block that a Portal leaves out between others is found by comparing with the node', async () => {
  const { pool } = await store()
  const left: string[] = []
  const liar = await startPortal(evmDataset(blocks))
  undo.push(() => liar.close())
  // No query tells of it: between its ends an answer has what it has.
  const change = (lines: string[]) => {
    const numberOf = (line: string) => (JSON.parse(line) as GatewayBlock).header.number
    // Later than what is asked of the node because its contract is new.
    const at = lines.findIndex((line, i) => i > 5 && i < lines.length - 5 && numberOf(line) > last / 2)
    if (at >= 0 && left.length === 0) left.push(...lines.splice(at, 1))
    return lines
  }
  liar.faults.push(...Array.from({ length: 50 }, () => ({ change })))
  await runChain({ ...common(), pool, endBlock: last - FINALITY, samples: false, portal: clientOf(liar) })
  const { header } = JSON.parse(left[0] ?? '') as GatewayBlock
  const found = await recheckNext(pool, network, [node.rpcUrl], {})
  expect(found?.equal).toBe(false)
  expect(found?.differences.join()).toContain(`${header.number}`)
}, 120_000)

it('while the Portal is away the node gives the last day, and no more than that', async () => {
  const away = await startPortal(evmDataset(blocks))
  await away.close()
  const { pool } = await store()
  await runChain({
    ...common(),
    pool,
    endBlock: last - FINALITY,
    startBlock: last - 100,
    portal: clientOf(away),
  })
  expect((await readStatus(pool, 0)).find(({ name }) => name === 'mainnet')?.headBlock).toBe(last - FINALITY)
}, 120_000)
