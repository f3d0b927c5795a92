import { expect, test } from 'vitest'
import type { BlockEvents } from '../../../db/events/event-store.ts'
import { openWriter } from '../../../db/events/event-writer.ts'
import type { LogsOfDay } from '../../../db/events/log-budgets.ts'
import type { OlderSource } from '../../../db/events/older-logs.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { DAY } from '../../../db/units.ts'
import type { DeadLetter } from '../../../processors/handling/block.ts'
import { KnownContracts } from '../../../processors/knowledge/known-contracts.ts'
import { LogBudget } from '../../../processors/knowledge/log-budget.ts'
import { OlderLogs } from '../../../processors/knowledge/older-logs.ts'
import type { Protocol } from '../../../processors/protocol.ts'
import type { ChainRpc } from '../../../processors/source/rpc.ts'
import type { BlockLogs } from '../../../processors/source/rpc-logs.ts'

const LOUD = `0x${'a'.repeat(40)}`
const LISTED = `0x${'b'.repeat(40)}`
const QUIET = `0x${'c'.repeat(40)}`
/** Of a protocol whose contracts are known by name. */
const MARKET = `0x${'d'.repeat(40)}`
const protocols = [
  { name: 'shape', sources: [{ kind: 'any', at: 'anywhere', decoders: [] }] },
  { name: 'oracle', sources: [{ kind: 'router', at: 'discovered', isOpen: true, decoders: [] }] },
] as unknown as Protocol[]
const KIND = 'vault'
const PER_DAY = 100
const FINALITY = 5
/** 24 blocks a day. */
const SECONDS = 3_600
const LAST = 80
const ref = (number: number) => ({
  number,
  hash: `0x${number.toString(16).padStart(64, '0')}`,
  timestamp: number * SECONDS,
})
const logs = (address: string, count: number) =>
  Array.from({ length: count }, (_, logIndex) => ({
    address,
    topics: ['0x1'],
    data: '0x',
    logIndex,
    transactionHash: '0x1',
  }))

function known(): KnownContracts {
  const contracts = new KnownContracts([])
  for (const vault of [LOUD, LISTED, QUIET, MARKET])
    contracts.learn(
      {
        type: 'VaultDiscovered',
        contract: vault,
        data: { vault, protocol: vault === MARKET ? 'market' : 'shape' },
      } as DomainEvent,
      0,
      0,
    )
  contracts.watchSources([LOUD, LISTED, QUIET].map(contract => ({ kind: KIND, contract })))
  return contracts
}

/** Ten logs a block of two vaults, and one of a third: which blocks of each are taken, and which are fetched later. */
function taken(cut: number, restarts: boolean) {
  const rows = new Map<string, LogsOfDay>()
  const ranges: OlderSource[] = []
  const letters: DeadLetter[] = []
  const blocks = new Map<string, number[]>([LOUD, LISTED, QUIET, MARKET].map(contract => [contract, []]))
  const open = () =>
    new LogBudget({
      contracts: known(),
      perDay: PER_DAY,
      finality: FINALITY,
      days: [...rows.values()],
      protocols,
      listed: new Set([LISTED]),
    })
  let budget = open()
  for (let from = 0; from <= LAST; from += cut) {
    const to = Math.min(LAST, from + cut - 1)
    const parent = { height: from - 1, hash: ref(from - 1).hash }
    const { writer, logBudgets, olderSources } = openWriter(new Map(), from - 1, parent)
    budget.begin(from - 1)
    for (let number = from; number <= to; number++) {
      const all = [...logs(LOUD, 10), ...logs(LISTED, 10), ...logs(MARKET, 10), ...logs(QUIET, 1)]
      const admitted = budget.admit({ ref: ref(number), logs: all }, letters)
      for (const contract of new Set(admitted.map(({ address }) => address)))
        blocks.get(contract)?.push(number)
    }
    budget.store(writer, Math.floor((to * SECONDS) / DAY), contract => [{ kind: KIND, contract }])
    budget.commit()
    for (const day of logBudgets.changed) rows.set(`${day.contract} ${day.day}`, day)
    for (const day of logBudgets.done) rows.delete(`${day.contract} ${day.day}`)
    ranges.push(...olderSources())
    if (restarts) budget = open()
  }
  return { blocks, ranges, letters, rows }
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

test.each([1, 7, 30])(
  'batches of %i blocks: what comes after so many logs of a day is left out until the day is over',
  cut => {
    for (const restarts of [false, true]) {
      const { blocks, ranges, letters } = taken(cut, restarts)
      expect(blocks.get(LOUD)).toEqual([range(0, 9), range(24, 33), range(48, 57), range(72, LAST)].flat())
      // What is left out of a day is fetched once a block of the next one is final; the last day has none here.
      expect(ranges).toEqual([
        { kind: KIND, contract: LOUD, cursor: 9, to: 23 },
        { kind: KIND, contract: LOUD, cursor: 33, to: 47 },
        ...(cut === 30 ? [] : [{ kind: KIND, contract: LOUD, cursor: 57, to: 71 }]),
      ])
      expect(letters.map(({ block, contract }) => [block.number, contract])).toEqual([
        [10, LOUD],
        [34, LOUD],
        [58, LOUD],
      ])
      expect(letters[0]?.reason).toContain('more than 100 logs on 1970-01-01')
    }
  },
)

test('what a known factory made, and what anybody may name, is counted, too', () => {
  const contracts = known()
  const [made, router] = [`0x${'e'.repeat(40)}`, `0x${'f'.repeat(40)}`]
  const budget = new LogBudget({
    contracts,
    perDay: PER_DAY,
    finality: FINALITY,
    days: [],
    protocols,
    listed: new Set([LISTED]),
  })
  const counted = () => [made, router, MARKET, LISTED].map(contract => budget.isCounted(contract))
  expect(counted()).toEqual([false, false, false, false])
  contracts.learn({ type: 'VaultCreated', contract: MARKET, data: { vault: made } } as DomainEvent, 1)
  const terms = { asset: QUIET, protocol: 'factory', decimals: 18, assetDecimals: 18 }
  contracts.learn(
    { type: 'VaultDiscovered', contract: made, data: { vault: made, ...terms } } as DomainEvent,
    1,
  )
  contracts.watchSources([{ kind: 'router', contract: router }])
  expect(counted()).toEqual([true, true, false, false])
})

test('one block alone may be more than a day', () => {
  const contracts = known()
  const budget = new LogBudget({
    contracts,
    perDay: PER_DAY,
    finality: FINALITY,
    days: [],
    protocols,
    listed: new Set([LISTED]),
  })
  const letters: DeadLetter[] = []
  expect(budget.admit({ ref: ref(1), logs: logs(LOUD, PER_DAY) }, letters).length).toBe(PER_DAY)
  expect(budget.admit({ ref: ref(25), logs: logs(LOUD, PER_DAY + 1) }, letters)).toEqual([])
  expect(letters.map(({ block }) => block.number)).toEqual([25])
})

test('whoever is listed, of a protocol that is known by name, or quiet, is taken whole', () => {
  const { blocks } = taken(1, true)
  expect(blocks.get(LISTED)).toEqual(range(0, LAST))
  expect(blocks.get(MARKET)).toEqual(range(0, LAST))
  expect(blocks.get(QUIET)).toEqual(range(0, LAST))
})

test('a fork takes back what was left out above its root, and where a day ended', () => {
  const budget = new LogBudget({
    contracts: known(),
    perDay: PER_DAY,
    finality: FINALITY,
    days: [{ contract: LOUD, day: 0, logs: 100, leftOutFrom: 10, leftOutTo: 23 }],
    protocols,
    listed: new Set(),
  })
  const admits = (number: number, timestamp: number) =>
    budget.admit({ ref: { ...ref(number), timestamp }, logs: logs(LOUD, 1) }, []).length === 1
  budget.begin(22)
  // Block 23 and 24 of the new branch are of the first day, too.
  expect([admits(23, 23 * SECONDS), admits(24, 23 * SECONDS + 1), admits(25, 24 * SECONDS)]).toEqual([
    false,
    false,
    true,
  ])
  const { writer, logBudgets } = openWriter(new Map(), 22, { height: 22, hash: '0x' })
  budget.store(writer, 1, () => [])
  expect(logBudgets.changed).toContainEqual({
    contract: LOUD,
    day: 0,
    logs: 100,
    leftOutFrom: 10,
    leftOutTo: 24,
  })
})

test('of what was left out so much is fetched a day, and others do not wait for it', async () => {
  /** Blocks with thirty logs of one contract each, and one with a log of another. */
  const heavy = range(101, 110)
  const rpc = {
    async logs({
      address,
      from,
      to,
    }: {
      address?: string[]
      from: number
      to: number
    }): Promise<BlockLogs[]> {
      return range(100, 120).flatMap(number => {
        const own = [
          ...(heavy.includes(number) ? logs(LOUD, 30) : []),
          ...(number === 120 ? logs(QUIET, 1) : []),
        ]
        const found = own.filter(log => address?.includes(log.address))
        return number >= from && number <= to && found.length > 0
          ? [{ number, hash: '0x1', logs: found }]
          : []
      })
    },
  } as unknown as ChainRpc
  const stored = new Map<string, OlderSource>(
    [LOUD, QUIET].map(contract => [contract, { kind: KIND, contract, cursor: 99, to: 200 }]),
  )
  const older = new OlderLogs({
    rpc,
    contracts: known(),
    finality: FINALITY,
    perDay: PER_DAY,
    topics: () => ['0x1'],
    withBesides: sources => [...sources],
    handle: async found =>
      found.flatMap(({ number, hash, logs: own }): BlockEvents[] =>
        [...new Set(own.map(({ address }) => address))].map(contract => ({
          block: { number, hash, timestamp: number },
          events: [{ type: 'Paused', contract, data: {} }],
        })),
      ),
    read: async () => [...stored.values()],
  })
  older.start()
  const days: string[][] = []
  for (const day of [10, 11, 12]) {
    const events: string[] = []
    const batch = () => {
      const { writer, blocks, olderSources } = openWriter(new Map(), 0, { height: 300, hash: '0x' })
      older.take(writer, day * DAY + 5)
      events.push(...blocks.map(({ block, events: own }) => `${own[0]?.contract[2]} ${block.number}`))
      for (const source of olderSources()) {
        if (source.cursor >= source.to) stored.delete(source.contract)
        else stored.set(source.contract, source)
      }
      older.commit()
      return stored.get(LOUD)?.notBefore ?? 0
    }
    await expect
      .poll(() => (batch() > day * DAY + 5 || stored.size === 0 ? 'rests' : 'goes on'), { interval: 5 })
      .toBe('rests')
    // However long the day is, no more comes.
    for (let i = 0; i < 20; i++) batch()
    days.push(events.sort())
  }
  older.stop()
  expect(days).toEqual([
    ['a 101', 'a 102', 'a 103', 'a 104', 'c 120'],
    ['a 105', 'a 106', 'a 107', 'a 108'],
    ['a 109', 'a 110'],
  ])
  expect(stored.size).toBe(0)
})

test('what was left out is kept while its contract is not watched, and fetched when it is again', () => {
  const row: LogsOfDay = { contract: LOUD, day: 0, logs: 100, leftOutFrom: 10, leftOutTo: 23 }
  const budget = new LogBudget({
    contracts: known(),
    perDay: PER_DAY,
    finality: FINALITY,
    days: [row],
    protocols,
    listed: new Set([LISTED]),
  })
  const fetched = (from: number, kinds: readonly string[]) => {
    const parent = { height: from - 1, hash: ref(from - 1).hash }
    const { writer, olderSources } = openWriter(new Map(), from - 1, parent)
    budget.begin(from - 1)
    budget.store(writer, 9, contract => kinds.map(kind => ({ kind, contract })))
    budget.commit()
    return olderSources()
  }
  expect(fetched(200, [])).toEqual([])
  expect(fetched(230, [KIND])).toEqual([{ kind: KIND, contract: LOUD, cursor: 9, to: 23 }])
  expect(fetched(260, [KIND])).toEqual([])
})
