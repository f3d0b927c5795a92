import { afterAll, beforeAll, expect, it } from 'vitest'
import { readStatus } from '../../db/status.ts'
import { statusTable } from '../../jobs/watch.ts'
import { loadProtocols } from '../../processors/load-protocols.ts'
import { deposit } from '../chain/deploy.ts'
import { type Node, startNode } from '../chain/node.ts'
import { runScenario, type Scenario } from '../chain/scenario.ts'
import { createPipeline, differencesFromChain, type Pipeline, scenarioContracts } from '../pipeline.ts'

const FINALITY = 20
/** Far below the length of the chain, so that history takes many requests and many batches. */
const RANGE = 30

let node: Node
let scenario: Scenario
let early: Pipeline
let late: Pipeline
let later: Pipeline
let following: ReturnType<Pipeline['follow']>

beforeAll(async () => {
  node = await startNode()
  early = await createPipeline()
  late = await createPipeline()
  later = await createPipeline()
  scenario = await runScenario(node, { days: 20 })
})
afterAll(async () => {
  await following?.stop().catch(() => {})
  await early?.drop()
  await late?.drop()
  await later?.drop()
  await node?.stop()
})

/** Every canonical event that is of a log, in words. */
async function logEvents({ postgres }: Pipeline): Promise<string[]> {
  const { rows } = await postgres.pool.query<{ event: string }>(
    `SELECT concat_ws(' ', block_number, encode(block_hash, 'hex'), log_index, type, encode(contract, 'hex'), data) AS event
     FROM event_log e WHERE stream = 1 AND log_index IS NOT NULL AND NOT EXISTS (
       SELECT FROM event_log r WHERE r.stream = 1 AND r.type = 'BlockRetracted'
         AND e.position BETWEEN (r.data->>'fromPosition')::bigint AND (r.data->>'toPosition')::bigint)
     ORDER BY block_number, log_index, type, data::text`,
  )
  return rows.map(({ event }) => event)
}

async function live(blocks: number): Promise<void> {
  const [vault] = scenario.vaults
  const user = scenario.users[0]
  if (!vault || !user) throw new Error('the scenario has no vault')
  for (let i = 0; i < blocks; i++) {
    await deposit(node, { vault, user, assets: 10n ** BigInt(vault.asset.decimals) })
  }
}

it('protocols added to an indexed chain have the same history as if they had always been there', async () => {
  const all = await loadProtocols()
  const contracts = scenarioContracts(scenario)
  const options = { rpcUrl: node.rpcUrl, contracts, finality: FINALITY }
  const few = all.filter(({ name }) => name === 'chainlink' || name === 'erc4626')
  await late.indexTo((await node.head()).number, { ...options, contracts: {}, protocols: few })
  await later.indexTo((await node.head()).number, { ...options, contracts: {}, protocols: few })
  const before = await logEvents(late)
  expect(before.some(event => event.includes(' Deposited '))).toBe(true)
  expect(before.some(event => / (Supplied|MarketCreated|ReserveListed) /.test(event))).toBe(false)

  following = late.follow({ ...options, backfillRange: RANGE })
  // The chain goes on all the while: history is stored with its blocks, and ends by joining them.
  const seen: number[] = []
  for (let round = 0; round < 60; round++) {
    await live(1)
    await following.reached((await node.head()).number)
    const streams = await readStatus(late.postgres.pool)
    const [{ backfills } = { backfills: [] }] = streams
    seen.push(backfills.length)
    if (backfills.length === 0) break
    expect(statusTable({ at: 0, streams })).toMatch(/mainnet: history of \d+ new sources? \[#*-*\] \d+ %/)
  }
  expect(seen.at(-1)).toBe(0)
  expect(seen.length).toBeGreaterThan(2)
  // What had joined at the head and is replaced comes again with the new branch.
  await node.reorg(5)
  await live(3)
  await following.reached((await node.head()).number)
  await following.stop()

  const { number } = await node.head()
  await early.indexTo(number, options)
  const [expected, found] = [await logEvents(early), await logEvents(late)]
  expect(found.filter(event => !expected.includes(event))).toEqual([])
  expect(expected.filter(event => !found.includes(event))).toEqual([])
  expect(found).toEqual(expected)
  expect(await differencesFromChain(late.postgres.pool, node.rpcUrl, number, contracts)).toEqual([])
})

it('read models of logs alone are those of a chain indexed from the start', async () => {
  await early.project()
  await late.project()
  const [expected, found] = [await early.visibleSums(), await late.visibleSums()]
  for (const name of ['balance', 'flow', 'daily_flow', 'lending_event', 'morpho_market', 'feed_price']) {
    expect(found[name], name).toEqual(expected[name])
    expect(expected[name]?.rows, name).toBeGreaterThan(0)
  }
})

it('a short history joins the first batch, also where that has blocks which were stored hot before', async () => {
  // Mined while it was stopped: what was hot then is final now, and comes again.
  for (let i = 0; i < FINALITY + 10; i++) await node.mine()
  const { number } = await node.head()
  const contracts = scenarioContracts(scenario)
  await later.indexTo(number, { rpcUrl: node.rpcUrl, contracts, finality: FINALITY })
  expect(await logEvents(later)).toEqual(await logEvents(early))
})
