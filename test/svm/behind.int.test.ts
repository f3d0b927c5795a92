import { afterAll, expect, it } from 'vitest'
import { openFailover } from '../../db/chain/failover.ts'
import { readEvents } from '../../db/events/event-store.ts'
import { SOLANA } from '../../db/streams.ts'
import { openPortal } from '../../processors/source/portal-client.ts'
import { openPortalSource } from '../../processors/svm/portal-source.ts'
import { openRpcSource } from '../../processors/svm/rpc-source.ts'
import type { SvmSource } from '../../processors/svm/source.ts'
import { seededRandom } from '../chain/random.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'
import { startPortal } from '../portal/server.ts'
import type { TestChain } from './chain.ts'
import { indexSolana } from './index-solana.ts'
import { svmDataset } from './portal-server.ts'
import { serveRpc } from './rpc-server.ts'
import { SvmWorld } from './world.ts'

/** Several sources, none of which is always there, and none of which is always as far as it was a moment ago. */

const opened: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of opened) await close()
})

async function indexed(chain: TestChain, source: SvmSource): Promise<TestPostgres> {
  const store = await createPostgres()
  opened.push(store.drop)
  await indexSolana(store.pool, { chain, source })
  return store
}

const eventsOf = ({ pool }: TestPostgres) => readEvents(pool, SOLANA.id, { after: 0 })

async function grown(): Promise<TestChain> {
  const world = await new SvmWorld(31).begin(2, 4)
  await world.grow(60)
  return world.chain
}

it('by nodes that fall behind each other, go back and are gone at times, what is stored is what the chain tells', async () => {
  const chain = await grown()
  const { below } = seededRandom(8)
  const nodes = [await serveRpc(chain), await serveRpc(chain), await serveRpc(chain)]
  opened.push(...nodes.map(({ close }) => close))
  const [first] = nodes
  if (!first) return expect.unreachable()
  const plain = await eventsOf(await indexed(chain, openRpcSource(openFailover([first.url]))))
  expect(plain.length).toBeGreaterThan(60)

  let [asked, gone, behind] = [0, 0, 0]
  const slots = chain.blocks.map(({ slot }) => slot)
  for (const node of nodes)
    node.fault = () => {
      // In the end all have all of it.
      const isWell = ++asked > 150
      const isBehind = !isWell && below(3) === 0
      node.head = isBehind ? slots[below(slots.length)] : undefined
      if (isBehind) behind++
      if (isWell || below(6) > 0) return undefined
      gone++
      return below(2) === 0 ? { status: 503 } : { code: -32005, message: 'Node is unhealthy' }
    }
  const ask = openFailover(
    nodes.map(({ url }) => url),
    { attempts: 1 },
    { sulkMs: 1 },
  )
  expect(await eventsOf(await indexed(chain, openRpcSource(ask)))).toEqual(plain)
  expect([gone > 10, behind > 20]).toEqual([true, true])
  for (const { calls } of nodes) expect(calls.size).toBeGreaterThan(0)
})

it('by Portals of which one is behind and one is gone, it is the same', async () => {
  const chain = await grown()
  const node = await serveRpc(chain)
  opened.push(node.close)
  const plain = await eventsOf(await indexed(chain, openRpcSource(openFailover([node.url]))))
  const half = chain.blocks[chain.blocks.length >> 1]
  if (!half) return expect.unreachable()
  const { below } = seededRandom(9)
  let old = 0
  const now = svmDataset(chain)
  const late = {
    ...now,
    // Behind a balancer, with one that has half.
    head: () => {
      if (below(2) === 1) return now.head()
      old++
      return { number: half.slot, hash: half.blockhash }
    },
  }
  const portals = [await startPortal(late, { mostChunks: 1 }), await startPortal(now, { mostChunks: 2 })]
  opened.push(...portals.map(each => () => each.close()))
  const urls = ['http://127.0.0.1:9', ...portals.map(({ url }) => url)]
  const settings = { url: 'PORTAL_SOLANA', key: 'PORTAL_API_KEY' }
  const source = () => openPortalSource(openPortal({ network: 'solana', firstPause: 5, urls, settings }))
  expect(await eventsOf(await indexed(chain, source()))).toEqual(plain)
  expect(old).toBeGreaterThan(3)
})
