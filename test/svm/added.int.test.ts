import { afterAll, beforeAll, expect, it } from 'vitest'
import { openFailover } from '../../db/chain/failover.ts'
import { readEvents, type StoredEvent } from '../../db/events/event-store.ts'
import { readStatus } from '../../db/status.ts'
import { SOLANA } from '../../db/streams.ts'
import { openPortal } from '../../processors/source/portal-client.ts'
import { compareSlots, firstSlot } from '../../processors/svm/compare.ts'
import { loadPrograms } from '../../processors/svm/load-programs.ts'
import { openPortalSource } from '../../processors/svm/portal-source.ts'
import type { SvmProgram } from '../../processors/svm/program.ts'
import { openRpcSource, PrunedError } from '../../processors/svm/rpc-source.ts'
import type { SvmSource } from '../../processors/svm/source.ts'
import { seededRandom } from '../chain/random.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'
import { startPortal } from '../portal/server.ts'
import { ACTS, Crowd } from './crowd.ts'
import { indexSolana } from './index-solana.ts'
import { svmDataset } from './portal-server.ts'
import { type RpcNode, serveRpc } from './rpc-server.ts'

/** Programs that are added to a stream that has blocks. */

let crowd: Crowd
let node: RpcNode
let all: readonly SvmProgram[]
let whole: string[]
const opened: (() => Promise<void>)[] = []

beforeAll(async () => {
  crowd = await Crowd.gather(4)
  const { below, pick } = seededRandom(5)
  for (let i = 0; i < 150; i++) {
    const wallet = pick(crowd.wallets)
    const kind = pick(ACTS)
    if (!wallet || !kind) continue
    await crowd.chain.send(wallet, await crowd.act(kind, wallet, BigInt(1 + below(1e6))))
    if (i % 9 === 0) crowd.chain.skip(1 + below(3))
  }
  node = await serveRpc(crowd.chain)
  opened.push(node.close)
  all = await loadPrograms()
  const store = await stored()
  await indexSolana(store.pool, { chain: crowd.chain, source: byNode() })
  whole = await linesOf(store)
  expect(whole.length).toBeGreaterThan(400)
})
afterAll(async () => {
  for (const close of opened) await close()
})

const byNode = () => openRpcSource(openFailover([node.url]))

async function byPortal(): Promise<SvmSource> {
  const portal = await startPortal(svmDataset(crowd.chain), { mostChunks: 1 })
  opened.push(() => portal.close())
  const urls = { urls: [portal.url], settings: { url: 'PORTAL_SOLANA', key: 'PORTAL_API_KEY' } }
  return openPortalSource(openPortal({ network: 'solana', firstPause: 10, ...urls }))
}

async function stored(): Promise<TestPostgres> {
  const postgres = await createPostgres()
  opened.push(postgres.drop)
  return postgres
}

const lineOf = ({ block_number, log_index, type, protocol, contract, tx_hash, data }: StoredEvent) =>
  JSON.stringify([block_number, log_index, type, protocol, contract, tx_hash, Object.entries(data).sort()])

/** What is stored, whatever the order in which it came. */
const linesOf = async ({ pool }: TestPostgres) =>
  (await readEvents(pool, SOLANA.id, { after: 0 })).map(lineOf).sort()

/** With one deployment of the stake pools alone. */
const few = () =>
  all.flatMap(each =>
    each.name === 'spl-stake-pool' ? [{ ...each, programs: each.programs.slice(0, 1) }] : [],
  )

const middle = () => crowd.chain.blocks[crowd.chain.blocks.length >> 1]?.slot ?? 0

it.each(['node', 'portal'])(
  'their history is what it had been with them from the start, through kills, by %s',
  async by => {
    const source = by === 'node' ? byNode() : await byPortal()
    const store = await stored()
    const { chain } = crowd
    await indexSolana(store.pool, { chain, source, programs: few(), endSlot: middle() })
    expect((await linesOf(store)).length).toBeLessThan(whole.length / 3)
    const [before] = (await readStatus(store.pool)).filter(({ name }) => name === SOLANA.name)
    expect(before?.backfills).toEqual([])
    for (let pause = 10; pause < 200; pause *= 2) {
      const stop = new AbortController()
      setTimeout(() => stop.abort(), pause)
      await indexSolana(store.pool, { chain, source, endSlot: middle() + 20, signal: stop.signal })
    }
    await indexSolana(store.pool, { chain, source })
    expect(await linesOf(store)).toEqual(whole)
    const told = await compareSlots(
      { pool: store.pool, source: byNode(), programs: all },
      await firstSlot(store.pool),
      chain.slot,
    )
    expect(told).toMatchObject({ equal: true, differences: [] })
    // Once more: nothing is left to be fetched.
    await indexSolana(store.pool, { chain, source })
    expect(await linesOf(store)).toEqual(whole)
  },
)

it('a program that is left out and comes back goes on from where it was', async () => {
  const store = await stored()
  const { chain } = crowd
  const at = (part: number) => chain.blocks[Math.floor(chain.blocks.length * part)]?.slot ?? 0
  await indexSolana(store.pool, { chain, source: byNode(), endSlot: at(0.3) })
  await indexSolana(store.pool, { chain, source: byNode(), programs: few(), endSlot: at(0.6) })
  await indexSolana(store.pool, { chain, source: byNode() })
  expect(await linesOf(store)).toEqual(whole)
})

it('live blocks go on while a node has none so old, which status shows, and what is late is not compared', async () => {
  const store = await stored()
  const { chain } = crowd
  const { pool } = store
  await indexSolana(pool, { chain, source: byNode(), programs: few(), endSlot: middle() })
  const own = byNode()
  const pruned: SvmSource = {
    ...own,
    read: (from, to, wanted) => {
      if (from <= middle()) throw new PrunedError(from, from + 1, middle())
      return own.read(from, to, wanted)
    },
  }
  const stop = new AbortController()
  const run = indexSolana(pool, { chain, source: pruned, endSlot: chain.slot, signal: stop.signal })
  const solana = async () => (await readStatus(pool)).find(({ name }) => name === SOLANA.name)
  await expect
    .poll(async () => (await solana())?.headBlock, { timeout: 60_000, interval: 20 })
    .toBe(chain.slot)
  expect((await solana())?.backfills).toMatchObject([{ sources: 5 }])
  stop.abort()
  await run
  const compared = await compareSlots(
    { pool, source: byNode(), programs: all },
    await firstSlot(pool),
    chain.slot,
  )
  expect(compared.equal).toBe(true)
  await indexSolana(pool, { chain, source: byNode() })
  expect(await linesOf(store)).toEqual(whole)
  expect((await solana())?.backfills).toEqual([])
})
