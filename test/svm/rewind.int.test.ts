import { afterAll, beforeAll, expect, it } from 'vitest'
import { openFailover } from '../../db/chain/failover.ts'
import { readEvents } from '../../db/events/event-store.ts'
import { SOLANA } from '../../db/streams.ts'
import { compareSlots } from '../../processors/svm/compare.ts'
import { loadPrograms } from '../../processors/svm/load-programs.ts'
import { openRpcSource } from '../../processors/svm/rpc-source.ts'
import { vaultlog } from '../faults/command.ts'
import { createPipeline, type Pipeline, visibleSumsOf } from '../pipeline.ts'
import { indexSolana } from './index-solana.ts'
import { standsOn } from './programs/dumps.ts'
import { type RpcNode, serveRpc } from './rpc-server.ts'
import { STAKE_POOL_PROGRAM } from './stake-pool.ts'
import { SvmWorld } from './world.ts'

standsOn(STAKE_POOL_PROGRAM)

const world = new SvmWorld(29)
let node: RpcNode
let pipeline: Pipeline

beforeAll(async () => {
  await world.begin()
  await world.grow(60)
  node = await serveRpc(world.chain)
  pipeline = await createPipeline()
})
afterAll(async () => {
  await node?.close()
  await pipeline?.drop()
})

async function index(): Promise<Record<string, { rows: number; checksum: string }>> {
  const source = openRpcSource(openFailover([node.url]))
  await indexSolana(pipeline.postgres.pool, { chain: world.chain, source })
  await pipeline.project()
  const ofBlocks = pipeline.projections.filter(({ name }) =>
    ['svm_balance', 'svm_flow', 'svm_price'].includes(name),
  )
  return visibleSumsOf(pipeline.clickhouse, ofBlocks, 'svm')
}

it('what was rewound is retracted, and stored anew as it was', async () => {
  const before = await index()
  for (const table of ['svm_balance', 'svm_flow']) expect(before[table]?.rows, table).toBeGreaterThan(20)
  const { blocks } = world.chain
  const [first, middle, last] = [blocks[0]?.slot, blocks[blocks.length >> 1]?.slot, blocks.at(-1)?.slot]
  const skipped = blocks.find(({ slot }, i) => i > 0 && blocks[i - 1]?.slot !== slot - 1)
  if (first === undefined || middle === undefined || last === undefined || !skipped)
    return expect.unreachable()
  // Amid the chain, at a slot without a block, and before there was anything to know.
  for (const to of [middle, skipped.slot - 1, first - 1]) {
    const events = await readEvents(pipeline.postgres.pool, SOLANA.id, { after: 0 })
    const said = await vaultlog(pipeline.env(), 'rewind', 'solana', '--to', String(to))
    expect(said.code, said.stderr).toBe(0)
    expect(said.stdout).toMatch(/^[1-9]\d* slots retracted; start the processor of solana again\./)
    const { rows } = await pipeline.postgres.pool.query('SELECT head_height FROM stream WHERE id = $1', [
      SOLANA.id,
    ])
    expect(rows).toEqual([{ head_height: to }])
    expect(await index(), `rewound to ${to}`).toEqual(before)
    const source = openRpcSource(openFailover([node.url]))
    const compared = await compareSlots(
      { pool: pipeline.postgres.pool, source, programs: await loadPrograms() },
      first,
      last,
    )
    expect(compared.differences, `rewound to ${to}`).toEqual([])
    expect(compared.equal).toBe(true)
    // Nothing is deleted: what was taken back is still there, before the retractions.
    const now = await readEvents(pipeline.postgres.pool, SOLANA.id, { after: 0 })
    expect(now.slice(0, events.length)).toEqual(events)
  }
}, 120_000)

it('a common slot is not looked for: all that is stored is final', async () => {
  const said = await vaultlog(pipeline.env(), 'rewind', 'solana', '--to', 'common')
  expect(said.code).not.toBe(0)
  expect(said.stderr).toContain('give the last slot that stays')
})
