import { expect, test } from 'vitest'
import type { Face } from '../../db/faces.ts'
import { readStatus } from '../../db/status.ts'
import { statusTable } from '../../jobs/watch.ts'
import { catchUpAll } from '../../jobs/work.ts'
import { loadProtocols } from '../../processors/load-protocols.ts'
import { buildAmmWorld, contractsOf as contractsOfAmm } from '../amm/world.ts'
import { ichiCalls } from '../chain/ichi.ts'
import { type Call, type Node, startNode } from '../chain/node.ts'
import { seededRandom } from '../chain/random.ts'
import { familySums } from '../family-sums.ts'
import { Wanderers } from '../pendle/wanderers.ts'
import { buildPendleWorld, contractsOf as contractsOfPendle } from '../pendle/world.ts'
import { createPipeline, differencesFromChain } from '../pipeline.ts'
import { eventsInWords } from '../stored-events.ts'

/** A family of protocols that is added to a chain long indexed: as if it had always been there. */

const FINALITY = 20

interface World {
  contracts: Record<string, string[]>
  next(): Promise<Call[]>
}

async function fixedTerm(node: Node): Promise<World> {
  const world = await buildPendleWorld(node)
  const random = seededRandom(Number(process.env['TEST_SEED'] ?? 5))
  const wanderers = new Wanderers(node, world, random, world.users)
  return {
    contracts: contractsOfPendle(world),
    async next() {
      const market = random.pick([world.short, world.long]) ?? world.short
      const [, calls] = await wanderers.next(market, (await node.head()).timestamp >= market.expiry)
      return calls
    },
  }
}

async function amm(node: Node): Promise<World> {
  const world = await buildAmmWorld(node)
  const acts = ichiCalls(world.ichi)
  const [user = '0x', other = '0x'] = world.users
  const { first, second } = world
  const usdc = 10n ** 9n
  const round: Call[][] = [
    [acts.deposit(user, first, usdc, 0n), acts.deposit(other, second, 0n, usdc)],
    [acts.trade(user, first.pool, false, 10n ** 17n)],
    [acts.withdraw(user, first, 10n ** 6n), acts.collect(other, second)],
    [acts.trade(user, second.pool, true, 10n ** 20n)],
  ]
  let step = 0
  return {
    contracts: contractsOfAmm(world),
    next: async () => (round[step++ % round.length] ?? []).map(call => ({ ...call, mayFail: true })),
  }
}

test.each<[string, Face, (node: Node) => Promise<World>, RegExp]>([
  ['pendle-v2', 'fixed-term', fixedTerm, / FixedTermStateSampled /],
  ['ichi', 'amm', amm, / AmmVaultSampled /],
])('%s', { timeout: 600_000 }, async (name, face, build, sample) => {
  const node = await startNode({ hardfork: 'cancun' })
  const early = await createPipeline()
  const late = await createPipeline()
  try {
    const { contracts, next } = await build(node)
    const live = async () => {
      for (const call of await next()) await node.send(call)
      await node.mine((await node.head()).timestamp + 900)
    }
    for (let step = 0; step < 60; step++) await live()
    const without = (await loadProtocols()).filter(one => one.name !== name)
    const start = (await node.head()).number
    await late.indexTo(start, { rpcUrl: node.rpcUrl, finality: FINALITY, protocols: without })
    expect((await eventsInWords(late.postgres.pool)).filter(event => sample.test(event))).toEqual([])

    const options = { rpcUrl: node.rpcUrl, finality: FINALITY, contracts }
    const run = late.follow({ ...options, backfillRange: 10 })
    let told = ''
    await expect
      .poll(
        async () => {
          await live()
          await run.reached((await node.head()).number)
          const streams = await readStatus(late.postgres.pool)
          const text = statusTable({ at: 0, streams })
          if (text.includes('history of')) told = text
          return streams[0]?.backfills
        },
        { timeout: 240_000, interval: 100 },
      )
      .toEqual([])
    expect(told).toMatch(/mainnet: history of \d+ new sources? \[#*-*\] \d+ %/)
    await node.reorg(5)
    await live()
    await live()
    const { number } = await node.head()
    await run.reached(number)
    await run.stop()

    await early.indexTo(number, options)
    const expected = await eventsInWords(early.postgres.pool)
    expect(expected.filter(event => sample.test(event)).length).toBeGreaterThan(30)
    expect(await eventsInWords(late.postgres.pool)).toEqual(expected)
    expect(await differencesFromChain(late.postgres.pool, node.rpcUrl, number, contracts)).toEqual([])
    for (const { postgres, clickhouse, projections } of [early, late])
      await catchUpAll({ pool: postgres.pool, clickhouse: clickhouse.client, projections })
    const sums = await familySums(early, face)
    expect(Object.keys(sums).length).toBeGreaterThan(4)
    expect(await familySums(late, face)).toEqual(sums)
  } finally {
    await early.drop()
    await late.drop()
    await node.stop()
  }
})
