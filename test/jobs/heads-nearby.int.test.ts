import { afterAll, expect, it, vi } from 'vitest'
import { loadProjections, tablesOf } from '../../jobs/projection.ts'
import { planRange, type Range } from '../../jobs/ranges.ts'
import { applyRange } from '../../jobs/runner.ts'
import { seededRandom } from '../chain/random.ts'
import { Engine } from './engine.ts'
import { type Positioned, RandomChain, store } from './streams.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const STREAM = 1
/** Ten events lie as far apart as a batch looks nearby for what was before it. */
const APART = 1_000
const GO_ON_FROM_TOTALS = ['aave_reserve', 'amm_vault', 'comet_market', 'fixed_term_market', 'morpho_market']

const TOTALS = new Set(['aave_total', 'comet_collateral_total', 'morpho_state'])

const projections = (await loadProjections()).filter(({ name }) => GO_ON_FROM_TOTALS.includes(name))
const engines: Engine[] = []
afterAll(async () => {
  for (const each of engines) await each.drop()
})

async function withEvents(log: readonly Positioned[]): Promise<Engine> {
  const engine = await Engine.create()
  engines.push(engine)
  await store(engine, STREAM, log)
  return engine
}

async function apply(engine: Engine, range: Range): Promise<void> {
  for (const projection of projections) await applyRange(engine.client, projection, STREAM, range)
}

/** An event of a history whose positions lie that far apart. */
const spread = ({ position, block, event }: Positioned): Positioned => {
  const entry = { position: position * APART, block, event }
  if (event.type !== 'BlockRetracted') return entry
  const { fromPosition, toPosition } = event.data
  const data = { ...event.data, fromPosition: fromPosition * APART, toPosition: toPosition * APART }
  return { ...entry, event: { ...event, data } }
}

/** What a reader sees of a table at the end, as text, with positions as they are in the history itself. */
async function seen(engine: Engine, table: string, apart = 1): Promise<string[]> {
  const rows = await engine.rows<{ row: string }>(
    `SELECT toString(tuple(* REPLACE (intDiv(position, ${apart}) AS position))) AS row
     FROM (SELECT * FROM ${table} FINAL WHERE position NOT IN (SELECT position FROM retracted)) ORDER BY row`,
  )
  return rows.map(({ row }) => row)
}

it('goes on from totals that were changed last nearby or far back, or in a block that is gone', async () => {
  const { log } = new RandomChain(1).grow(110)
  const random = seededRandom(7919).next
  const dense = await withEvents(log)
  const target = { position: log.length, block_number: 0, block_time: 0 }
  for (let from = 0; from < log.length; ) {
    const range = await planRange(dense.client, STREAM, from, log.length, target)
    await apply(dense, range)
    from = range.to
  }
  const apart = await withEvents(log.map(spread))
  for (let from = 0; from < log.length; ) {
    const to = Math.min(log.length, from + 1 + Math.floor(random() * 60))
    const range = await planRange(dense.client, STREAM, from, to, target)
    await apply(apart, { ...range, from: from * APART, to: range.to * APART })
    from = range.to
  }
  for (const table of projections.flatMap(tablesOf)) {
    const rows = await seen(dense, table)
    if (TOTALS.has(table)) expect(rows.length, table).toBeGreaterThan(2)
    expect(await seen(apart, table, APART), table).toEqual(rows)
  }
})
