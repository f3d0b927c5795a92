import type pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { BlockEvents } from '../../db/events/event-store.ts'
import { MIRROR } from '../../db/wake-ups.ts'
import { readCheckpoint, registerProjections } from '../../jobs/checkpoints.ts'
import { mirrorStream } from '../../jobs/mirror.ts'
import { type Projection, partsOf, tablesOf } from '../../jobs/projection.ts'
import { planRange } from '../../jobs/ranges.ts'
import { applyRange, runProjection } from '../../jobs/runner.ts'
import { seededRandom } from '../chain/random.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { appendBlocks } from '../read-api/append.ts'
import { Engine } from './engine.ts'
import { RandomChain, store } from './streams.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const MAINNET = 1
const BASE = 8453
const NAMES = ['vault', 'vault_sample', 'flow', 'attributed_flow', 'balance']
let pipeline: Pipeline
let plain: Engine
let projections: Projection[]

beforeAll(async () => {
  pipeline = await createPipeline()
  plain = await Engine.create()
  projections = pipeline.projections.filter(({ name }) => NAMES.includes(name))
  expect(projections.map(({ name }) => name).sort()).toEqual([...NAMES].sort())
  await registerProjections(pipeline.postgres.pool, projections)
})
afterAll(async () => {
  await plain?.drop()
  await pipeline?.drop()
})

/** Blocks one by one, so that the head may stand amid a fork. */
function slices(entries: readonly BlockEvents[], size: () => number): BlockEvents[][] {
  const all: BlockEvents[][] = []
  let slice: BlockEvents[] = []
  let least = size()
  for (const entry of entries) {
    const last = slice.at(-1)
    const isNext = entry.block.hash !== last?.block.hash || entry.events[0]?.type === 'BlockRetracted'
    if (isNext && slice.length >= least) {
      all.push(slice)
      slice = []
      least = size()
    }
    slice.push(entry)
  }
  return [...all, slice]
}

const sumAt = (table: string, position: number) =>
  `SELECT concat(toString(count()), ' ', toString(sum(cityHash64(toString(tuple(*)))))) AS sum FROM ${table} FINAL
   WHERE chain_id = ${MAINNET} AND position <= ${position}
     AND position NOT IN (SELECT position FROM retracted WHERE stream = ${MAINNET} AND retracted_by <= ${position})`

test('whoever reads while projections catch up, each at its own pace, sees what was there at that moment', async () => {
  const { pool } = pipeline.postgres
  const { client } = pipeline.clickhouse
  const random = seededRandom(5)
  const chain = new RandomChain(17)
  const entries = chain.lengthen(200, { forks: true })
  const seen = new Map<string, { table: string; position: number; sum: string }>()
  const tables = (projection: Projection) =>
    tablesOf(projection).filter(name => !partsOf(projection).some(part => part.isHead && part.name === name))
  let leftOut = 0

  const look = async () => {
    const at = new Map<string, number>()
    for (const { name } of projections) at.set(name, (await readCheckpoint(pool, name, MAINNET)).position)
    for (const position of new Set(at.values())) {
      for (const projection of projections.filter(({ name }) => (at.get(name) ?? 0) >= position)) {
        for (const table of tables(projection)) {
          const [row] = await pipeline.rows<{ sum: string }>(sumAt(table, position))
          const key = `${table} at ${position}`
          // Nor does it change while others go on.
          expect(row?.sum, key).toBe(seen.get(key)?.sum ?? row?.sum)
          seen.set(key, { table, position, sum: row?.sum ?? '' })
        }
      }
    }
  }
  const step = async (projection: Projection, batch: number) => {
    let isOver = false
    await runProjection(pool, client, projection, MAINNET, {
      limits: { batch, settled: 0 },
      turn: { isOver: () => isOver },
      onBatch(range) {
        isOver = true
        if (range.hasForks) leftOut++
      },
    })
  }

  for (const slice of slices(entries, () => 1 + random.below(20))) {
    await appendBlocks(pool, MAINNET, 'mainnet', slice)
    await mirrorStream(pool, client, MAINNET)
    // Nobody projects for a while; then all go on, by batches of many sizes, and look at each other's tables.
    if (!random.chance(0.2)) continue
    for (const projection of projections) {
      if (random.chance(0.8)) await step(projection, 1 + random.below(1_200))
    }
    await look()
  }
  for (const projection of projections)
    await runProjection(pool, client, projection, MAINNET, { limits: { batch: 800, settled: 0 } })
  await look()
  expect(leftOut).toBeGreaterThan(15)
  expect((await readCheckpoint(pool, MIRROR, MAINNET)).position).toBe(chain.log.length)

  // The same without leaving out anything, all at the same pace.
  await store(plain, MAINNET, chain.log)
  const target = { position: chain.log.length, block_number: 0, block_time: 0 }
  for (let from = 0; from < chain.log.length; ) {
    const range = await planRange(plain.client, MAINNET, from, chain.log.length, target)
    expect(range.hasForks).toBe(false)
    for (const projection of projections) await applyRange(plain.client, projection, MAINNET, range)
    from = range.to
  }
  expect(seen.size).toBeGreaterThan(100)
  for (const [what, { table, position, sum }] of seen) {
    const [row] = await plain.rows<{ sum: string }>(sumAt(table, position))
    expect(sum, what).toBe(row?.sum)
  }
})

/** The same pool; before its first batch is noted as begun something else happens. */
function withPause(pool: pg.Pool, pause: () => Promise<void>): pg.Pool {
  let isOver = false
  const paused = (client: pg.PoolClient): pg.PoolClient =>
    new Proxy(client, {
      get(target, key) {
        const value = Reflect.get(target, key) as unknown
        if (typeof value !== 'function') return value
        if (key !== 'query') return value.bind(target)
        return async (...args: unknown[]) => {
          if (!isOver && /^INSERT INTO checkpoint .*applying_to/s.test(String(args[0]))) {
            isOver = true
            await pause()
          }
          return value.apply(target, args)
        }
      },
    })
  return new Proxy(pool, {
    get(target, key) {
      if (key === 'connect') return async () => paused(await target.connect())
      const value = Reflect.get(target, key) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

test('of two that plan at the same time, the one that begins later does not end amid what the other left out', async () => {
  const { pool } = pipeline.postgres
  const { client } = pipeline.clickhouse
  const [first, second, third] = projections
  if (!first || !second || !third) throw new TypeError('three projections are wanted')
  const chain = new RandomChain(29)
  const entries = chain.lengthen(40, { forks: false })
  const retraction = () => chain.log.find(({ event }) => event.type === 'BlockRetracted')
  while (!retraction()) entries.push(...chain.lengthen(1))
  entries.push(...chain.lengthen(40, { forks: false }))
  // The branch that is left ends before this position.
  const at = retraction()?.position ?? 0
  const limits = { settled: 0 }
  const reach = async (from: number, to: number) => {
    await appendBlocks(pool, BASE, 'base', entries.slice(from, to))
    await mirrorStream(pool, client, BASE)
  }

  await reach(0, at - 1)
  await runProjection(pool, client, third, BASE, { limits })
  await reach(at - 1, entries.length)
  const ends: number[] = []
  const leftOut: boolean[] = []
  const pause = async () => {
    // It stood amid the fork when the second one planned, and does not any more when the first one does.
    await runProjection(pool, client, third, BASE, { limits })
    const onBatch = ({ hasForks }: { hasForks: boolean }) => void leftOut.push(hasForks)
    await runProjection(pool, client, first, BASE, { limits, onBatch })
  }
  await runProjection(withPause(pool, pause), client, second, BASE, {
    limits,
    onBatch: ({ to }) => void ends.push(to),
  })
  expect(leftOut).toEqual([true])
  expect(ends).toEqual([entries.length])
})
