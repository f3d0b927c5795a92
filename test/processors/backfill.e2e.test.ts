import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { readStatus } from '../../db/status.ts'
import { statusTable } from '../../jobs/watch.ts'
import { catchUpAll } from '../../jobs/work.ts'
import { loadProtocols } from '../../processors/load-protocols.ts'
import { deposit } from '../chain/deploy.ts'
import { type Node, startNode } from '../chain/node.ts'
import { runScenario, type Scenario } from '../chain/scenario.ts'
import { createPipeline, differencesFromChain, type Pipeline, scenarioContracts } from '../pipeline.ts'
import { eventsInWords } from '../stored-events.ts'

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
let pruned: Pipeline
let still: Pipeline
const following = new Map<Pipeline, ReturnType<Pipeline['follow']>>()

beforeAll(async () => {
  node = await startNode()
  early = await createPipeline()
  late = await createPipeline()
  bare = await createPipeline()
  later = await createPipeline()
  pruned = await createPipeline()
  still = await createPipeline()
  scenario = await runScenario(node, { days: 20 })
})
afterAll(async () => {
  for (const run of following.values()) await run.stop().catch(() => {})
  for (const pipeline of [early, late, bare, later, pruned, still]) await pipeline?.drop()
  await node?.stop()
})

const events = ({ postgres }: Pipeline, below?: number) => eventsInWords(postgres.pool, below)

/** Passes on what is asked of a node but calls at the end of these blocks, whose state it has forgotten. */
async function startForgetfulProxy(target: string, blocks: ReadonlySet<unknown>) {
  const asked = z.object({
    jsonrpc: z.string(),
    id: z.unknown(),
    method: z.string(),
    params: z.array(z.unknown()).optional(),
  })
  const isForgotten = ({ method, params }: z.infer<typeof asked>) => {
    const at = params?.[1]
    return method === 'eth_call' && typeof at === 'object' && at !== null && blocks.has(Object.values(at)[0])
  }
  const error = { code: -32000, message: 'missing trie node 5af1 (path )' }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const all: unknown = JSON.parse(body)
    const list = z.array(asked).parse(Array.isArray(all) ? all : [all])
    const passed = list.filter(one => !isForgotten(one))
    const answered = passed.length > 0 ? await post(target, passed) : []
    const answers = [
      ...answered,
      ...list.filter(isForgotten).map(({ id }) => ({ jsonrpc: '2.0', id, error })),
    ]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(Array.isArray(all) ? answers : answers[0]))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function post(url: string, body: unknown): Promise<unknown[]> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return z.array(z.unknown()).parse(await response.json())
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
  await late.indexTo(start, { ...few, protocols: only('chainlink', 'erc-4626') })
  await later.indexTo(start, { ...few, protocols: only('chainlink', 'erc-4626') })
  const { 'chainlink-feed': feeds = [] } = contracts
  const prices = { ...options, contracts: { 'chainlink-feed': feeds }, protocols: only('chainlink') }
  await bare.indexTo(start, prices)
  const before = await events(late)
  expect(before.some(event => event.includes(' Deposited '))).toBe(true)
  expect(before.some(event => / (Supplied|MarketCreated|ReserveListed) /.test(event))).toBe(false)
  expect((await events(bare)).every(event => event.includes(' PriceReported '))).toBe(true)

  // The chain goes on all the while: history is stored between its blocks, and ends by joining them.
  for (const pipeline of [late, bare]) {
    const seen: number[] = []
    let restarts = 0
    for (let round = 0; round < 2000; round++) {
      // Stopped amid the history, again and again, and soon at first: what was made and not stored is made anew.
      if (round < 3 || (round % 8 === 0 && round < 80)) {
        await following.get(pipeline)?.stop()
        if (round > 0 && (await backfillsOf(pipeline)).backfills.length > 0) restarts++
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
    expect(restarts).toBeGreaterThan(0)
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
}, 600_000)

it('read models are those of a chain indexed from the start', async () => {
  // `project` would list the vaults of this chain, whose samples have no budget then.
  for (const { postgres, clickhouse, projections } of [early, late, bare])
    await catchUpAll({ pool: postgres.pool, clickhouse: clickhouse.client, projections })
  const expected = await early.visibleSums()
  expect(await late.visibleSums()).toEqual(expected)
  expect(await bare.visibleSums()).toEqual(expected)
  for (const name of [
    'balance',
    'flow',
    'daily_flow',
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

it('a chain that stands still has its history made all the same, as far as it is final', async () => {
  const all = await loadProtocols()
  const contracts = scenarioContracts(scenario)
  const options = { rpcUrl: node.rpcUrl, contracts, finality: FINALITY, backfillRange: RANGE }
  const { 'chainlink-feed': feeds = [] } = contracts
  const { number } = await node.head()
  await still.indexTo(number, {
    ...options,
    contracts: { 'chainlink-feed': feeds },
    protocols: all.filter(({ name }) => name === 'chainlink'),
  })
  const run = still.follow(options)
  following.set(still, run)
  // One block says how far the chain is. No other comes.
  await live(1)
  await run.reached(number + 1)
  await vi.waitFor(
    async () => {
      const { rows } = await still.postgres.pool.query<{ cursor: number }>(
        'SELECT cursor FROM watched_source WHERE cursor IS NOT NULL AND removed_at IS NULL',
      )
      expect(rows.length).toBeGreaterThan(0)
      expect(rows.every(({ cursor }) => cursor === number + 1 - FINALITY)).toBe(true)
    },
    { timeout: 240_000, interval: 100 },
  )
  const past = await events(still, number + 1 - FINALITY)
  expect(past.some(event => event.includes(' Deposited '))).toBe(true)
  await live(1)
  await run.reached(number + 2)
  expect((await backfillsOf(still)).backfills).toEqual([])
  await run.stop()
  await early.indexTo(number + 2, { ...options, backfillRange: undefined })
  await expectSameEvents(still)
}, 600_000)

it('a node without the state of old blocks: what logs tell is added all the same, and one dead letter says what is not', async () => {
  const { number } = await node.head()
  const old = new Set<unknown>()
  for (let height = 0; height < number - FINALITY; height++)
    old.add((await node.client.getBlock({ blockNumber: BigInt(height) })).hash)
  const proxy = await startForgetfulProxy(node.rpcUrl, old)
  const all = await loadProtocols()
  const { 'chainlink-feed': feeds = [], ...contracts } = scenarioContracts(scenario)
  const options = { rpcUrl: proxy.url, finality: FINALITY }
  const only = (...names: string[]) => all.filter(({ name }) => names.includes(name))
  try {
    await pruned.indexTo(number, {
      ...options,
      contracts: { 'chainlink-feed': feeds },
      protocols: only('chainlink'),
    })
    const run = pruned.follow({
      ...options,
      contracts: { ...contracts, 'chainlink-feed': feeds },
      protocols: only('chainlink', 'morpho-blue'),
      backfillRange: RANGE,
    })
    following.set(pruned, run)
    await expect
      .poll(
        async () => {
          await live(1)
          await run.reached((await node.head()).number)
          return (await backfillsOf(pruned)).backfills
        },
        { timeout: 240_000, interval: 100 },
      )
      .toEqual([])
    await run.stop()
  } finally {
    await proxy.stop()
  }
  const morpho = (event: string) => event.includes(scenario.morpho.address.slice(2))
  const isOfState = (event: string) => event.includes('Sampled')
  const before = await events(early, number - FINALITY)
  const found = await events(pruned, number - FINALITY)
  expect(found.filter(morpho)).toEqual(before.filter(event => morpho(event) && !isOfState(event)))
  expect(before.filter(event => morpho(event) && isOfState(event)).length).toBeGreaterThan(500)
  const { rows } = await pruned.postgres.pool.query('SELECT stage FROM dead_letter')
  expect(rows).toEqual([{ stage: 'sample' }])
  const status = (await readStatus(pruned.postgres.pool)).find(({ name }) => name === 'mainnet')
  expect(status?.samplesSince).toBe(number - FINALITY)
  const said = statusTable({ at: 0, streams: status ? [status] : [], heads: new Map() })
  expect(said).toContain(
    `mainnet: history: logs complete, samples since block ${number - FINALITY}: the node`,
  )
}, 600_000)
