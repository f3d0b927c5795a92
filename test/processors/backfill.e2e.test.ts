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
/** Indexed from the start, with everything. */
let early: Pipeline
/** What was indexed with few protocols first, and with how few. */
let late: Pipeline
let bare: Pipeline
let later: Pipeline
const following = new Map<Pipeline, ReturnType<Pipeline['follow']>>()

beforeAll(async () => {
  node = await startNode()
  early = await createPipeline()
  late = await createPipeline()
  bare = await createPipeline()
  later = await createPipeline()
  scenario = await runScenario(node, { days: 20 })
})
afterAll(async () => {
  for (const run of following.values()) await run.stop().catch(() => {})
  for (const pipeline of [early, late, bare, later]) await pipeline?.drop()
  await node?.stop()
})

/** Every canonical event, in words; samples too, by which block and of what state. */
async function events({ postgres }: Pipeline): Promise<string[]> {
  const { rows } = await postgres.pool.query<{ event: string }>(
    `SELECT concat_ws(' ', block_number, encode(block_hash, 'hex'), log_index, type, encode(contract, 'hex'), data) AS event
     FROM event_log e WHERE stream = 1 AND type <> 'BlockRetracted' AND NOT EXISTS (
       SELECT FROM event_log r WHERE r.stream = 1 AND r.type = 'BlockRetracted'
         AND e.position BETWEEN (r.data->>'fromPosition')::bigint AND (r.data->>'toPosition')::bigint)
     ORDER BY event`,
  )
  return rows.map(({ event }) => event)
}

/** Every event, and every sample, once and no other. */
async function expectSameEvents(of: Pipeline): Promise<void> {
  const [expected, found] = [await events(early), await events(of)]
  expect(found.filter(event => !expected.includes(event))).toEqual([])
  expect(expected.filter(event => !found.includes(event))).toEqual([])
  expect(found).toEqual(expected)
}

async function live(blocks: number): Promise<void> {
  const [vault] = scenario.vaults
  const user = scenario.users[0]
  if (!vault || !user) throw new Error('the scenario has no vault')
  for (let i = 0; i < blocks; i++) {
    await deposit(node, { vault, user, assets: 10n ** BigInt(vault.asset.decimals) })
  }
}

const backfillsOf = async ({ postgres }: Pipeline) => {
  const streams = await readStatus(postgres.pool)
  const [{ backfills } = { backfills: [] }] = streams
  return { streams, backfills }
}

it('protocols added to an indexed chain have the same history as if they had always been there', async () => {
  const all = await loadProtocols()
  const contracts = scenarioContracts(scenario)
  const options = { rpcUrl: node.rpcUrl, contracts, finality: FINALITY }
  const only = (...names: string[]) => all.filter(({ name }) => names.includes(name))
  const { number: start } = await node.head()
  const few = { ...options, contracts: {} }
  await late.indexTo(start, { ...few, protocols: only('chainlink', 'erc4626') })
  await later.indexTo(start, { ...few, protocols: only('chainlink', 'erc4626') })
  const { 'chainlink-feed': feeds = [] } = contracts
  const prices = { ...options, contracts: { 'chainlink-feed': feeds }, protocols: only('chainlink') }
  await bare.indexTo(start, prices)
  const before = await events(late)
  expect(before.some(event => event.includes(' Deposited '))).toBe(true)
  expect(before.some(event => / (Supplied|MarketCreated|ReserveListed) /.test(event))).toBe(false)
  expect((await events(bare)).every(event => event.includes(' PriceReported '))).toBe(true)

  // The chain goes on all the while: history is stored with its blocks, and ends by joining them.
  for (const pipeline of [late, bare]) {
    const seen: number[] = []
    for (let round = 0; round < 200; round++) {
      // Stopped amid the history, again and again: what was made and not stored is made anew.
      if (round % 8 === 0) {
        await following.get(pipeline)?.stop()
        following.set(pipeline, pipeline.follow({ ...options, backfillRange: RANGE }))
      }
      await live(1)
      await new Promise(resolve => setTimeout(resolve, 100))
      await following.get(pipeline)?.reached((await node.head()).number)
      const { streams, backfills } = await backfillsOf(pipeline)
      seen.push(backfills.length)
      if (backfills.length === 0) break
      expect(statusTable({ at: 0, streams })).toMatch(/mainnet: history of \d+ new sources? \[#*-*\] \d+ %/)
    }
    expect(seen.at(-1)).toBe(0)
    expect(seen.length).toBeGreaterThan(8)
  }
  // What had joined at the head and is replaced comes again with the new branch.
  await node.reorg(5)
  await live(3)
  for (const run of following.values()) {
    await run.reached((await node.head()).number)
    await run.stop()
  }

  const { number } = await node.head()
  await early.indexTo(number, options)
  for (const pipeline of [late, bare]) {
    await expectSameEvents(pipeline)
    expect(await differencesFromChain(pipeline.postgres.pool, node.rpcUrl, number, contracts)).toEqual([])
    const { rows } = await pipeline.postgres.pool.query('SELECT FROM watched_source WHERE learned')
    expect(rows).toEqual([])
  }
})

it('read models are those of a chain indexed from the start', async () => {
  for (const pipeline of [early, late, bare]) await pipeline.project()
  const expected = await early.visibleSums()
  expect(await late.visibleSums()).toEqual(expected)
  expect(await bare.visibleSums()).toEqual(expected)
  for (const name of [
    'balance',
    'flow',
    'lending_event',
    'morpho_market',
    'feed_price',
    'vault_hourly',
    'oracle_price',
  ])
    expect(expected[name]?.rows, name).toBeGreaterThan(0)
})

it('a short history joins the first batch, also where that has blocks which were stored hot before', async () => {
  // Mined while it was stopped: what was hot then is final now, and comes again.
  for (let i = 0; i < FINALITY + 10; i++) await node.mine()
  const { number } = await node.head()
  const contracts = scenarioContracts(scenario)
  const options = { rpcUrl: node.rpcUrl, contracts, finality: FINALITY }
  await later.indexTo(number, options)
  await early.indexTo(number, options)
  await expectSameEvents(later)
})
