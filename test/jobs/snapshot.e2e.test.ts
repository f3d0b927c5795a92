import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { vaultlog } from '../faults/command.ts'
import { type SmallChain, startSmallChain } from '../faults/small-chain.ts'
import { createPipeline, differencesFromChain, type Pipeline } from '../pipeline.ts'

const FINALITY = 5

let chain: SmallChain
let [first, second, third]: Pipeline[] = []
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vaultlog-snapshot-'))
  chain = await startSmallChain(815)
  await chain.live(30)
  ;[first, second, third] = [await createPipeline(), await createPipeline(), await createPipeline()]
})
afterAll(async () => {
  for (const pipeline of [first, second, third]) await pipeline?.drop()
  await chain?.node.stop()
  await rm(folder, { recursive: true, force: true })
})

const ask = ({ postgres }: Pipeline, ...args: string[]) =>
  vaultlog({ DATABASE_URL: postgres.url }, 'snapshot', ...args)

test('a processor goes on from a snapshot, over a reorg of blocks that are in it; one of a chain that is not the node’s is refused', {
  timeout: 300_000,
}, async () => {
  if (!first || !second || !third) throw new Error('no pipelines')
  const { node } = chain
  const index = async (pipeline: Pipeline) =>
    pipeline.indexTo((await node.head()).number, { rpcUrl: node.rpcUrl, finality: FINALITY })
  await index(first)
  const made = join(folder, 'made')
  expect((await ask(first, 'export', 'mainnet', made)).code).toBe(0)

  // Not final in the snapshot, and replaced before somebody takes it.
  await node.rollback(FINALITY - 2)
  await chain.live(9, 700)
  const taken = await ask(second, 'import', made, '--rpc', node.rpcUrl)
  expect(taken.code, taken.stderr).toBe(0)
  expect(taken.stdout).toContain('vaultlog verify --chain mainnet --rpc')
  await index(second)
  await index(first)
  const { number } = await node.head()
  expect(await differencesFromChain(second.postgres.pool, node.rpcUrl, number)).toEqual([])
  const retracted = await second.postgres.pool.query(`SELECT FROM event_log WHERE type = 'BlockRetracted'`)
  expect(retracted.rowCount).toBeGreaterThan(0)
  await Promise.all([first.project(), second.project()])
  expect(await second.visibleSums()).toEqual(await first.visibleSums())

  await node.rollback(number - 10)
  await chain.live(40, 900)
  const refused = await ask(third, 'import', made, '--rpc', node.rpcUrl)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/Block \d+ of mainnet is 0x\w+ on the chain and 0x\w+ in the snapshot/)
  expect((await third.postgres.pool.query('SELECT FROM stream WHERE id = 1 AND head > 0')).rowCount).toBe(0)
})
