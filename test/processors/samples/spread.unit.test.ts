import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BlockEvents } from '../../../db/events/event-store.ts'
import { openWriter } from '../../../db/events/event-writer.ts'
import { HOUR } from '../../../db/units.ts'
import { KnownContracts } from '../../../processors/knowledge/known-contracts.ts'
import { delayOf, hourlyTimes, partsOf } from '../../../processors/samples/spread.ts'
import type { ChainRpc } from '../../../processors/source/rpc.ts'
import { handlerOf } from '../handler.ts'
import { blockOf, plainProtocol } from './plain-protocol.ts'

const SECONDS = 10
const PER_HOUR = HOUR / SECONDS
const HOURS = 4
const LAST = HOURS * PER_HOUR
const ref = (number: number) => ({
  number,
  hash: `0x${number.toString(16).padStart(64, '0')}`,
  timestamp: number * SECONDS,
})
const vaultOf = (n: number) => `0x${(n * 0x9e3779b9).toString(16).padStart(40, '0')}`
/** 300 before the first hour, 600 more amid the parts of the second, 900 more in the quiet of the third. */
const BIRTHS = new Map([
  [5, Array.from({ length: 300 }, (_, n) => vaultOf(n))],
  [PER_HOUR + 20, Array.from({ length: 600 }, (_, n) => vaultOf(300 + n))],
  [2 * PER_HOUR + 200, Array.from({ length: 900 }, (_, n) => vaultOf(900 + n))],
])

const rpc = {
  header: async (number: number) => ref(number),
  logs: async () => [],
  transactions: async () => new Map(),
  calls: async (list: readonly unknown[]) => list.map(() => `0x${'1'.padStart(64, '0')}`),
  reader: () => ({ troubles: new Map() }),
} as unknown as ChainRpc

/** Blocks and vaults that are sampled because of the hour, handled in batches of so many blocks, by one process or by a new one for each. */
async function hourly(cut: number, restarts: boolean): Promise<[number, string][]> {
  const stored: BlockEvents[] = []
  const open = () => {
    const contracts = new KnownContracts([plainProtocol])
    for (const { block, events } of stored)
      for (const event of events) contracts.learn(event, block.number, block.timestamp)
    contracts.commit()
    return { contracts, handler: handlerOf({ protocols: [plainProtocol], contracts, rpc, samples: true }) }
  }
  let process = open()
  for (let from = 1; from <= LAST; from += cut) {
    const to = Math.min(LAST, from + cut - 1)
    const { writer, blocks } = openWriter(new Map(), Number.MAX_SAFE_INTEGER, {
      height: from - 1,
      hash: ref(from - 1).hash,
    })
    const batch = [...BIRTHS]
      .filter(([number]) => number >= from && number <= to)
      .map(([number, vaults]) => blockOf(ref(number), vaults))
    if (batch.at(-1)?.ref.number !== to) batch.push(blockOf(ref(to), []))
    await process.handler.handle(writer, batch)
    process.contracts.commit()
    stored.push(...blocks)
    if (restarts) process = open()
  }
  return stored.flatMap(({ block, events }) =>
    events.flatMap(event =>
      event.type === 'StateSampled' && event.data.reason === 'hourly'
        ? [[block.number, event.data.vault] as [number, string]]
        : [],
    ),
  )
}

const known = (block: number) =>
  [...BIRTHS].flatMap(([number, vaults]) => (number < block ? vaults : [])).sort()

test('many vaults are sampled a part at a time, each of them in every hour', async () => {
  const sampled = await hourly(1, false)
  const perHour = Array.from({ length: HOURS }, (): Map<number, string[]> => new Map())
  for (const [block, vault] of sampled) {
    const parts = perHour[Math.floor(block / PER_HOUR)]
    parts?.set(block % PER_HOUR, [...(parts.get(block % PER_HOUR) ?? []), vault])
  }
  // Up to 400 vaults are one part, 900 are four and 1,800 eight.
  expect(perHour.map(parts => [...parts.keys()])).toEqual([
    [],
    [0, 32, 48],
    [0, 16, 32, 48],
    [0, 8, 16, 24, 32, 40, 48, 56],
  ])
  // Those that are born amid an hour's parts come in what is left of them; of the others some come once more.
  for (const hour of [1, 2, 3]) {
    const all = [...(perHour[hour]?.values() ?? [])].flat()
    for (const vault of known(hour * PER_HOUR)) expect(all).toContain(vault)
    if (hour > 1) expect(all.sort()).toEqual(known(hour * PER_HOUR))
  }
  for (const part of perHour[3]?.values() ?? []) {
    expect(part.length).toBeGreaterThan(150)
    expect(part.length).toBeLessThan(300)
  }
})

test.each([7, 100, LAST])(
  'batches of %i blocks, and processes that stop after each, give the same',
  async cut => {
    const inOrder = (list: [number, string][]) => list.map(([block, vault]) => `${block} ${vault}`).sort()
    const expected = inOrder(await hourly(1, false))
    expect(inOrder(await hourly(cut, false))).toEqual(expected)
    expect(inOrder(await hourly(cut, true))).toEqual(expected)
  },
)

test('where vaults become more none comes sooner in its hour than it did, and all come at times that are looked for', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }).map(n => `0x${n.toString(16).padStart(40, '0')}`),
      fc.nat(40_000),
      fc.nat(40_000),
      (vault, n, more) => {
        const [before, after] = [partsOf(n), partsOf(n + more)]
        expect(delayOf(vault, after)).toBeGreaterThanOrEqual(delayOf(vault, before))
        expect(hourlyTimes(0, after).delays).toContain(delayOf(vault, after))
        expect(hourlyTimes(0, after).delays).toEqual(
          expect.arrayContaining([...hourlyTimes(0, before).delays]),
        )
      },
    ),
  )
})
