import { describe, expect, test } from 'vitest'
import type { BlockEvents } from '../../../db/events/event-store.ts'
import { openWriter } from '../../../db/events/event-writer.ts'
import type { StoredSample } from '../../../db/events/sample-budgets.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { KnownContracts } from '../../../processors/knowledge/known-contracts.ts'
import type { Protocol } from '../../../processors/protocol.ts'
import { SampleBudget } from '../../../processors/samples/sample-budget.ts'
import type { ChainRpc } from '../../../processors/source/rpc.ts'
import { handlerOf } from '../handler.ts'
import { blockOf, plainProtocol } from './plain-protocol.ts'

const HOUR = 3600
const addressOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => addressOf(from + i))
const ref = (number: number, timestamp: number) => ({
  number,
  hash: `0x${number.toString(16).padStart(64, '0')}`,
  timestamp,
})
const discovered = (vault: string): DomainEvent =>
  ({
    type: 'VaultDiscovered',
    contract: vault,
    data: { vault, asset: addressOf(1), protocol: 'plain', decimals: 18, assetDecimals: 18 },
  }) as DomainEvent

const LISTED = range(100, 110)
const FOUND = range(200, 300)
const MADE = range(400, 430)

function open(taken: StoredSample[] = [], perHour = 20, found: readonly string[] = FOUND) {
  const contracts = new KnownContracts([])
  for (const [i, vault] of [...LISTED, ...MADE, ...found].entries()) {
    if (MADE.includes(vault))
      contracts.learn({ type: 'VaultCreated', contract: '0xf', data: { vault } } as DomainEvent, i)
    contracts.learn(discovered(vault), i)
  }
  const budget = new SampleBudget({
    contracts,
    perHour,
    listed: { vaults: new Set(LISTED), markets: new Set() },
    taken,
  })
  budget.begin(Number.MAX_SAFE_INTEGER)
  return { contracts, budget }
}

const turnsIn = (budget: SampleBudget, vaults: readonly string[], hour: number) =>
  vaults.filter(vault => budget.hasTurn(vault, ref(1000 + hour, hour * HOUR)))

describe('hourly samples', () => {
  test('listed vaults have them every hour, of the others those that were first, and a quarter of the budget in turns', () => {
    const { budget } = open()
    const had = new Map<string, number>()
    // Five seats and five turns an hour for a hundred: ninety-five have one turn in nineteen hours.
    for (let hour = 50; hour < 50 + 19; hour++) {
      expect(turnsIn(budget, LISTED, hour)).toEqual(LISTED)
      const turns = turnsIn(budget, FOUND, hour)
      expect(turns.length).toBe(10)
      expect(turns.slice(0, 5)).toEqual(FOUND.slice(0, 5))
      for (const vault of turns) had.set(vault, (had.get(vault) ?? 0) + 1)
      // Five seats, and twenty-five others in five hours.
      expect(turnsIn(budget, MADE, hour).length).toBe(10)
    }
    // By which an hour's samples are divided into parts.
    expect(budget.inAnHour([...LISTED, ...MADE, ...FOUND])).toBe(LISTED.length + 10 + 10)
    expect(FOUND.slice(5).map(vault => had.get(vault))).toEqual(FOUND.slice(5).map(() => 1))
    expect(budget.rounds()).toEqual([
      { standing: 'made', vaults: 30, hours: 5 },
      { standing: 'found', vaults: 100, hours: 19 },
      { standing: 'market', vaults: 0, hours: 1 },
    ])
  })

  test('nobody waits where there is room for all', () => {
    const { budget } = open([], 2_000)
    expect(turnsIn(budget, [...FOUND, ...MADE], 7)).toEqual([...FOUND, ...MADE])
    expect(budget.spared()).toBe(0)
  })

  test('vaults that are slow take nobody’s turn', () => {
    const { budget, contracts } = open()
    for (const vault of FOUND.slice(0, 90))
      contracts.learn({ type: 'SamplingSlowed', contract: vault, data: { vault } } as DomainEvent, 500, 1)
    budget.begin(Number.MAX_SAFE_INTEGER)
    expect(turnsIn(budget, FOUND.slice(90), 7)).toEqual(FOUND.slice(90))
    expect(budget.rounds()[1]).toEqual({ standing: 'found', vaults: 10, hours: 1 })
  })
})

describe('samples after events', () => {
  const at = (block: number) => ref(block, HOUR * 9 + block)
  test('have half of an hour, a twentieth for each vault, listed ones as many as there are', () => {
    const { budget } = open([], 80)
    const taken = Array.from({ length: 50 }, (_, block) =>
      [...LISTED, ...FOUND].filter(vault => budget.admits(vault, at(block))),
    )
    for (const vaults of taken) expect(vaults.slice(0, 10)).toEqual(LISTED)
    const others = taken.flatMap(vaults => vaults.slice(10))
    expect(others.length).toBe(40)
    expect(others.filter(vault => vault === FOUND[0]).length).toBe(1)
    expect(MADE.every(vault => budget.admits(vault, at(60)))).toBe(true)
    expect(budget.admits(FOUND[0] ?? '', ref(5_000, HOUR * 10))).toBe(true)
  })

  test('what was not stored, or is retracted, was not taken; a restart knows what was', () => {
    const { budget } = open([], 40)
    const admitted = (of: SampleBudget, block: number) => FOUND.filter(vault => of.admits(vault, at(block)))
    const first = admitted(budget, 1)
    expect(first.length).toBe(20)
    expect(admitted(budget, 1)).toEqual(first)
    budget.begin(Number.MAX_SAFE_INTEGER)
    expect(admitted(budget, 2)).toEqual(first)
    budget.commit()
    budget.begin(Number.MAX_SAFE_INTEGER)
    expect(admitted(budget, 3)).toEqual([])
    const stored = first.map(vault => ({ vault, block: 2, hour: 9 }))
    expect(admitted(open(stored, 40).budget, 3)).toEqual([])
    budget.begin(1)
    expect(admitted(budget, 3)).toEqual(first)
  })
})

test('markets that anybody may have opened are read in turns, those that somebody vouches for always', () => {
  const market = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
  const markets = Array.from({ length: 60 }, (_, i) => market(i))
  const [byFact = '', byCap = '', byStranger = ''] = markets.slice(50)
  const opener = {
    name: 'opener',
    sources: [],
    teaches: ['MarketCreated'],
    remembers: ['CapChanged'],
    samples: ({ data: { market: of } }: DomainEvent<'MarketCreated'>) => [
      { subject: of, opened: of, read: { key: of, calls: [], events: () => [] } },
    ],
  } as unknown as Protocol
  const contracts = new KnownContracts([opener])
  for (const of of markets)
    contracts.learn({ type: 'MarketCreated', contract: '0xb', data: { market: of } } as DomainEvent, 1)
  const cap = (vault: string, of: string) =>
    contracts.learn(
      { type: 'CapChanged', contract: vault, data: { kind: 'supply', cap: 1n, market: of } } as DomainEvent,
      2,
    )
  cap(LISTED[0] ?? '', byCap)
  cap(FOUND[0] ?? '', byStranger)
  const listed = { vaults: new Set(LISTED), markets: new Set([byFact]) }
  const budget = new SampleBudget({ contracts, perHour: 40, listed, taken: [] })
  budget.begin(Number.MAX_SAFE_INTEGER)
  // Ten seats, and forty-eight others in five hours.
  expect(budget.rounds()[2]).toEqual({ standing: 'market', vaults: 58, hours: 5 })
  const read = (hour: number) =>
    contracts
      .readsAt(9, undefined, of => budget.hasMarketTurn(of, ref(9, hour * HOUR)))
      .map(({ read }) => read.key)
  const hours = [0, 1, 2, 3, 4].map(read)
  for (const keys of hours) {
    expect(keys.length).toBeLessThanOrEqual(10 + 10 + 2)
    expect(keys).toEqual(expect.arrayContaining([...markets.slice(0, 10), byFact, byCap]))
  }
  expect(hours.flat().filter(key => key === byStranger).length).toBe(1)
  expect(new Set(hours.flat()).size).toBe(60)
  // In one block all of them move.
  expect(markets.filter(of => budget.admitsMarket(of, ref(9, 5))).length).toBe(20 + 2)
})

test('a crowd that does something in every block costs its budget of calls, and the listed vault has all of its samples', async () => {
  const run = async (crowd: readonly string[]) => {
    const contracts = new KnownContracts([plainProtocol])
    const [listed = ''] = LISTED
    for (const vault of [listed, ...crowd]) contracts.learn(discovered(vault), 0, 0)
    contracts.commit()
    const calls = new Map<string, number>()
    const rpc = {
      header: async (number: number) => ref(number, number * 600),
      transactions: async () => new Map(),
      logs: async () => [],
      calls: async (list: { to: string }[]) => {
        for (const { to } of list) calls.set(to, (calls.get(to) ?? 0) + 1)
        return list.map(() => `0x${'1'.padStart(64, '0')}`)
      },
    } as unknown as ChainRpc
    const handler = handlerOf({
      protocols: [plainProtocol],
      contracts,
      rpc,
      samples: true,
      sampleBudget: new SampleBudget({
        contracts,
        perHour: 40,
        listed: { vaults: new Set([listed]), markets: new Set() },
        taken: [],
      }),
    })
    const events: BlockEvents[] = []
    // A day of six blocks an hour.
    for (let from = 1; from <= 144; from += 12) {
      const parent = { height: from - 1, hash: ref(from - 1, 0).hash }
      const { writer, blocks } = openWriter(new Map(), Number.MAX_SAFE_INTEGER, parent)
      const batch = Array.from({ length: 12 }, (_, i) =>
        blockOf(ref(from + i, (from + i) * 600), [listed, ...crowd]),
      )
      await handler.handle(writer, batch)
      contracts.commit()
      events.push(...blocks)
    }
    const ofListed = events.flatMap(({ block, events: own }) =>
      own
        .filter(({ type, contract }) => type === 'StateSampled' && contract === listed)
        .map(event => ({ block: block.number, event })),
    )
    const costs = crowd.reduce((sum, vault) => sum + (calls.get(vault) ?? 0), 0)
    return { ofListed, costs }
  }
  const alone = await run([])
  const beside = await run(FOUND)
  expect(alone.ofListed.length).toBe(144)
  expect(beside.ofListed).toEqual(alone.ofListed)
  // Ten seats, ten turns and twenty for events in each of 25 hours (the first and the last in part), five calls to the vault itself each.
  expect(beside.costs).toBeGreaterThan(20 * 24 * 5)
  expect(beside.costs).toBeLessThanOrEqual(40 * 25 * 5)
})
