import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Face } from '../../db/faces.ts'
import { ammVaults } from '../../read-api/amm/queries.ts'
import { type CatalogueKeeper, createCatalogueKeeper } from '../../read-api/catalogue/keeper.ts'
import { fixedTermMarkets } from '../../read-api/fixed-term/queries.ts'
import { feedAnswers, sampledPrices } from '../../read-api/lending/queries.ts'
import { askKept } from '../../read-api/moment/kept.ts'
import { ask, type NamedQuery, type z } from '../../read-api/moment/query.ts'
import * as aave from '../../read-api/protocols/aave-v3/queries.ts'
import * as comet from '../../read-api/protocols/compound-v3/queries.ts'
import * as evk from '../../read-api/protocols/euler-v2/queries.ts'
import * as morpho from '../../read-api/protocols/morpho-blue/queries.ts'
import { RandomChain } from '../jobs/streams.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { appendBlocks } from './append.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 })

const CHAIN = 1
const BLOCKS = 14
const FACES: Partial<Record<Face, NamedQuery<z.ZodType>[]>> = {
  lending: [
    morpho.morphoMarkets,
    aave.aaveReserves,
    aave.aaveTotals,
    aave.aaveSettings,
    comet.cometMarketRows,
    comet.cometAssets,
    evk.evkLtvs,
    evk.evkPauses,
    evk.evkVaults,
    sampledPrices,
    feedAnswers,
  ],
  'fixed-term': [fixedTermMarkets],
  amm: [ammVaults],
}
const questions = Object.entries(FACES).flatMap(([face, queries]) =>
  queries.map(query => ({ query, face: face as Face })),
)

let pipeline: Pipeline
let keeper: CatalogueKeeper
let feeds: string[]
const chain = new RandomChain(6)
beforeAll(async () => {
  pipeline = await createPipeline()
  keeper = createCatalogueKeeper(pipeline.postgres.pool, pipeline.clickhouse.client)
  await advance(40)
  const reported = chain.log.flatMap(({ event }) => (event.type === 'PriceReported' ? [event.data.feed] : []))
  feeds = [...new Set(reported)]
})
afterAll(() => pipeline?.drop())

async function advance(blocks: number): Promise<void> {
  await appendBlocks(pipeline.postgres.pool, CHAIN, 'mainnet', chain.lengthen(blocks))
  await pipeline.project()
  await keeper.refresh()
}

const clickhouse = () => pipeline.clickhouse.client
const parametersOf = (query: NamedQuery<z.ZodType>) => (query === feedAnswers ? { feeds } : {})
const kept = (query: NamedQuery<z.ZodType>, face: Face) =>
  askKept(
    { deps: { clickhouse: clickhouse() }, catalogue: keeper.current() },
    query,
    CHAIN,
    face,
    parametersOf(query),
  )
const anew = (query: NamedQuery<z.ZodType>, face: Face) =>
  ask(clickhouse(), query, {
    ...parametersOf(query),
    chain: CHAIN,
    p: keeper.current().chain(CHAIN, face)?.position,
  })
const sorted = (rows: readonly unknown[]) => rows.map(row => JSON.stringify(row)).sort()

/** The rows, and whether ClickHouse was asked for them. */
async function look({ query, face }: (typeof questions)[number]) {
  const asking = vi.spyOn(clickhouse(), 'query')
  const rows = sorted(await kept(query, face))
  const isAsked = asking.mock.calls.length > 0
  asking.mockRestore()
  return { rows, isAsked }
}

async function lookAtAll() {
  const looks: Awaited<ReturnType<typeof look>>[] = []
  for (const question of questions) looks.push(await look(question))
  return looks
}

it('what is kept of a chain is what would be read anew, after each block of a history with forks', async () => {
  const asked = new Map<string, number>()
  let forks = 0
  for (let block = 0; block < BLOCKS; block++) {
    const before = chain.log.length
    if (block > 0) await advance(1)
    if (chain.log.slice(before).some(({ event }) => event.type === 'BlockRetracted')) forks++
    for (const question of questions) {
      const { query, face } = question
      const { rows, isAsked } = await look(question)
      expect(rows, `${query.name} after block ${block}`).toEqual(sorted(await anew(query, face)))
      if (isAsked) asked.set(query.name, (asked.get(query.name) ?? 0) + 1)
    }
  }
  expect(forks).toBeGreaterThan(2)
  for (const { query } of questions) expect(asked.get(query.name), query.name).toBeLessThan(BLOCKS)
})

it('a replay, and a read model that is not whole, are not passed over', async () => {
  await lookAtAll()
  const before = await lookAtAll()
  expect(before.some(({ rows }) => rows.length > 0)).toBe(true)
  expect(before.map(({ isAsked }) => isAsked)).toEqual(questions.map(() => false))
  await pipeline.postgres.pool.query(
    `UPDATE checkpoint SET replays = replays + 1 WHERE projection = 'morpho_market' AND stream = $1`,
    [CHAIN],
  )
  await keeper.refresh()
  const after = await lookAtAll()
  expect(after.map(({ rows }) => rows)).toEqual(before.map(({ rows }) => rows))
  expect(after.map(({ isAsked }) => isAsked)).toEqual(questions.map(() => true))
  await pipeline.postgres.pool.query(
    `UPDATE checkpoint SET has_joined = false WHERE projection = 'morpho_market' AND stream = $1`,
    [CHAIN],
  )
  await keeper.refresh()
  await expect(kept(morpho.morphoMarkets, 'lending')).rejects.toThrow(/morpho_market is new/)
})
