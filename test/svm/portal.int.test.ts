import { afterAll, beforeAll, expect, it } from 'vitest'
import { openFailover } from '../../db/chain/failover.ts'
import { readEvents, type StoredEvent } from '../../db/events/event-store.ts'
import { SOLANA } from '../../db/streams.ts'
import { openPortal } from '../../processors/source/portal-client.ts'
import { compareSlots, firstSlot } from '../../processors/svm/compare.ts'
import { loadPrograms } from '../../processors/svm/load-programs.ts'
import { openPortalSource } from '../../processors/svm/portal-source.ts'
import { openRpcSource } from '../../processors/svm/rpc-source.ts'
import type { SvmSource } from '../../processors/svm/source.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'
import { startPortal, type TestPortal } from '../portal/server.ts'
import { indexSolana } from './index-solana.ts'
import { svmDataset } from './portal-server.ts'
import { standsOn } from './programs/dumps.ts'
import { type RpcNode, serveRpc } from './rpc-server.ts'
import { STAKE_POOL_PROGRAM } from './stake-pool.ts'
import { SvmWorld } from './world.ts'

standsOn(STAKE_POOL_PROGRAM)

const world = new SvmWorld(23)
let node: RpcNode
let portal: TestPortal
const stores: TestPostgres[] = []

beforeAll(async () => {
  await world.begin(3, 4)
  await world.grow(90)
  node = await serveRpc(world.chain)
  portal = await startPortal(svmDataset(world.chain), { mostChunks: 1 })
})
afterAll(async () => {
  await node.close()
  await portal.close()
  for (const store of stores) await store.drop()
})

const client = () =>
  openPortal({
    network: 'solana',
    urls: [portal.url],
    firstPause: 10,
    settings: { url: 'PORTAL_SOLANA', key: 'PORTAL_API_KEY' },
  })

/** What is stored of the chain, read from this source into a store of its own. */
async function indexed(source: SvmSource, hasSamples = false): Promise<StoredEvent[]> {
  const store = await createPostgres()
  stores.push(store)
  await indexSolana(store.pool, { chain: world.chain, source, ...(hasSamples && { node }) })
  return readEvents(store.pool, SOLANA.id, { after: 0 })
}

it('gives the very events that a node gives, through refusals and broken lines', async () => {
  const byNode = await indexed(openRpcSource(openFailover([node.url])))
  portal.faults.push(
    { status: 429, retryAfter: '0' },
    { status: 503 },
    { cutAfter: 0 },
    { cutAfter: 5000 },
    { cutAfter: 90 },
    { status: 500 },
  )
  const byPortal = await indexed(openPortalSource(client()))
  expect(portal.faults).toEqual([])
  expect(byPortal).toEqual(byNode)
  expect(byNode.length).toBeGreaterThan(100)
  expect(new Set(byNode.map(({ type }) => type)).size).toBe(4)
  // Whole blocks are asked of the node alone.
  const blocks = node.calls.get('getBlock') ?? 0
  expect(portal.requests.length).toBeLessThan(blocks)
})

it('a store that a Portal filled is compared with a node, slot by slot, and what is missing or other is named', async () => {
  await indexed(openPortalSource(client()))
  const pool = stores.at(-1)?.pool
  if (!pool) return expect.unreachable()
  const source = openRpcSource(openFailover([node.url]))
  const programs = await loadPrograms()
  const [from, to] = [await firstSlot(pool), world.chain.slot]
  const whole = await compareSlots({ pool, source, programs }, from, to)
  expect(whole).toMatchObject({ equal: true, differences: [], store: whole.chain })
  expect(whole.chain.events).toBeGreaterThan(50)
  // What a node does not have yet is no difference.
  await expect(compareSlots({ pool, source, programs }, from, to + 1)).rejects.toThrow('it is behind')
  // A transaction that the node has otherwise: nothing of it was carried out.
  const block = world.chain.blocks.find(({ slot }) => slot === world.done[3]?.slot)
  if (!block) return expect.unreachable()
  const { meta } = block.transactions.at(-1) as { meta: { err: unknown } }
  meta.err = { InstructionError: [0, 'Custom'] }
  const other = await compareSlots(
    { pool, source: openRpcSource(openFailover([node.url])), programs },
    from,
    to,
  )
  meta.err = null
  expect(other.equal).toBe(false)
  expect(other.chain.events).toBeLessThan(other.store.events)
  expect(other.differences.every(text => text.startsWith(`only in the store: slot ${block.slot} `))).toBe(
    true,
  )
})

it('has samples of slots that hold nothing else', async () => {
  world.chain.mine([], 3600)
  const events = await indexed(openPortalSource(client()), true)
  const samples = events.filter(({ type }) => type === 'SvmVaultSampled')
  expect(samples.map(({ block_number }) => block_number)).toContain(world.chain.slot)
  for (const pool of world.pools) {
    const { lamports, supply } = pool.state()
    if (supply === 0n) continue
    expect(samples.map(({ data }) => [data['totalAssets'], data['totalSupply']])).toContainEqual([
      `${lamports}`,
      `${supply}`,
    ])
  }
})
