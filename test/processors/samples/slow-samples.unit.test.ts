import { expect, test } from 'vitest'
import type { BlockEvents } from '../../../db/events/event-store.ts'
import { openWriter } from '../../../db/events/event-writer.ts'
import { KnownContracts } from '../../../processors/knowledge/known-contracts.ts'
import { SampleBudget } from '../../../processors/samples/sample-budget.ts'
import type { ChainRpc } from '../../../processors/source/rpc.ts'
import { handlerOf } from '../handler.ts'
import { blockOf, plainProtocol } from './plain-protocol.ts'

const VAULT = `0x${'a'.repeat(40)}`
const TOTAL_SUPPLY = '0x18160ddd'
const TOTAL_ASSETS = '0x01e1d114'
/** Six blocks an hour: block 6 n is hour n. */
const SECONDS = 600
const LAST = 4_320
const ref = (number: number) => ({
  number,
  hash: `0x${number.toString(16).padStart(64, '0')}`,
  timestamp: number * SECONDS,
})

/** Somebody holds shares in these blocks. */
const isHeld = (block: number) => block < 30 || (block >= 3_100 && block < 3_300) || block >= 3_340
/** Blocks with an event of the vault: nobody says of the others what happens. */
const EVENTS = [12, 30, 3_100]

const nobody = { vaults: new Set<string>(), markets: new Set<string>() }
let calls = 0
/** From this block to the next the vault burns what a call may cost, whatever it answers. */
const noTrouble: readonly [number, number] = [LAST + 1, LAST + 1]
const rpcOf = (trouble: readonly [number, number], gas: number, isOneDear: boolean) =>
  ({
    header: async (number: number) => ref(number),
    logs: async () => [],
    transactions: async () => new Map(),
    calls: async (
      list: { to: string; data: string }[],
      { number }: { number: number },
      onTrouble: (contract: string, trouble: string) => void,
      _: number,
      onUsed: (gas: number[]) => void,
    ) => {
      calls += list.length
      const isTroubled = number >= trouble[0] && number < trouble[1]
      if (isTroubled && gas === 0) onTrouble(VAULT, 'it used all of its gas')
      onUsed(list.map((_, i) => (isTroubled && (i === 0 || !isOneDear) ? gas : 30_000)))
      return list.map(({ data }) => {
        const isAssets = data.startsWith(TOTAL_ASSETS)
        const isSupply = data.startsWith(TOTAL_SUPPLY)
        return isAssets || isSupply
          ? `0x${(isHeld(number) ? 1n : 0n).toString(16).padStart(64, '0')}`
          : undefined
      })
    },
    reader: () => ({ troubles: new Map() }),
  }) as unknown as ChainRpc

/** What is stored of the chain, handled in batches of so many blocks, by one process or by a new one for each batch. */
async function stored(
  cut: number,
  restarts: boolean,
  { trouble = noTrouble, last = LAST, deposits = EVENTS, gas = 0, isOneDear = false, hourOffset = 0 } = {},
): Promise<string[]> {
  const rpc = rpcOf(trouble, gas, isOneDear)
  calls = 0
  const events: BlockEvents[] = []
  const open = () => {
    const contracts = new KnownContracts([plainProtocol])
    for (const { block, events: own } of events)
      for (const event of own) contracts.learn(event, block.number, block.timestamp)
    contracts.commit()
    const handler = handlerOf({
      protocols: [plainProtocol],
      contracts,
      rpc,
      samples: true,
      hourOffset,
      ...(gas > 0
        ? { sampleBudget: new SampleBudget({ contracts, perHour: 1e6, listed: nobody, taken: [] }) }
        : {}),
    })
    return { contracts, handler }
  }
  let process = open()
  for (let from = 1; from <= last; from += cut) {
    const to = Math.min(last, from + cut - 1)
    const parent = { height: from - 1, hash: ref(from - 1).hash }
    const { writer, blocks } = openWriter(new Map(), Number.MAX_SAFE_INTEGER, parent)
    const batch = deposits
      .filter(number => number >= from && number <= to)
      .map(number => blockOf(ref(number), [VAULT]))
    if (batch.at(-1)?.ref.number !== to) batch.push(blockOf(ref(to), []))
    await process.handler.handle(writer, batch)
    process.contracts.commit()
    events.push(...blocks)
    if (restarts) process = open()
  }
  return events
    .flatMap(({ block, events: own }) => own.map(({ type }) => ({ block: block.number, type })))
    .filter(({ type }) => type.startsWith('S'))
    .map(({ block, type }) => `${block} ${type}`)
}

const hourly = (from: number, to: number) =>
  Array.from({ length: (to - from) / 6 + 1 }, (_, i) => `${from + 6 * i} StateSampled`)
const at = (...blocks: number[]) => blocks.map(block => `${block} StateSampled`)
/** Emptied in hour 5, held again in block 3,100; seen empty in hour 550, and held at the next look of hour 558. */
const EXPECTED = [
  ...hourly(12, 30),
  '30 SamplingSlowed',
  ...at(36, 42, 54, 78, 126, 222, 414, 798, 1_038, 2_046, 3_054),
  ...at(3_100),
  '3100 SamplingResumed',
  ...hourly(3_102, 3_300),
  '3300 SamplingSlowed',
  ...at(3_306, 3_312, 3_324, 3_348),
  '3348 SamplingResumed',
  ...hourly(3_354, LAST),
]

test('a vault of which nobody holds a share is sampled less and less often, and hourly again when somebody does', async () => {
  expect(await stored(1, false)).toEqual(EXPECTED)
})

test.each([7, 100, 1_000, LAST])(
  'batches of %i blocks, and processes that stop after each, give the same',
  async cut => {
    expect(await stored(cut, false)).toEqual(EXPECTED)
    expect(await stored(cut, true)).toEqual(EXPECTED)
  },
)

test.each([7, 100, LAST])(
  'so they do where hours begin a minute behind the full ones, in batches of %i blocks',
  async cut => {
    const expected = await stored(1, false, { hourOffset: 60 })
    expect(await stored(cut, true, { hourOffset: 60 })).toEqual(expected)
    const sampled = expected.flatMap(line => /^(\d+) StateSampled$/.exec(line)?.[1] ?? []).map(Number)
    // The first block of an hour is a minute too early; what something happened in is sampled at once.
    expect(sampled.filter(block => block % 6 !== 1)).toEqual([12, 30, 3_100])
    expect(sampled.slice(0, 6)).toEqual([12, 13, 19, 25, 30, 31])
  },
)

test('what is not stored is not asked, either', async () => {
  await stored(100, false)
  const asked = calls
  const all = 5 * EXPECTED.length
  // Of a batch in which it turns out to be empty the calls are made already: sixteen hours here.
  expect(asked).toBeLessThan(2 * all)
})

test.each([1, 7])('one that burns what a call may cost is, too, in batches of %i blocks', async cut => {
  // Seen in hour 3 (block 18); from block 30 on nobody holds a share either.
  expect(await stored(cut, false, { trouble: [18, 60], last: 90 })).toEqual([
    ...hourly(12, 18),
    '18 SamplingSlowed',
    ...at(24, 30, 42, 66),
    '66 SamplingSlowed',
    ...at(72, 78, 90),
  ])
})

/** Deposits in every block, as whoever wants it dear for others would make them. */
const BUSY = Array.from({ length: 40 }, (_, i) => 3_340 + i)

const burning = { trouble: [3_350, 3_362] as const, last: 3_379, deposits: [12, ...BUSY] }

test.each([1, 7, 100, LAST])(
  'what happens in one that burns what calls may cost is no reason to ask it, in batches of %i blocks',
  async cut => {
    const expected = [
      '3340 SamplingResumed',
      ...at(...BUSY.filter(number => number > 3_340 && number <= 3_350)),
      '3350 SamplingSlowed',
      // One, two and four full hours later.
      ...at(3_354, 3_360, 3_372),
      '3372 SamplingResumed',
      ...at(...BUSY.filter(number => number > 3_372)),
    ]
    const inBusy = (all: string[]) => all.slice(all.indexOf('3340 StateSampled') + 1)
    expect(inBusy(await stored(cut, false, burning))).toEqual(expected)
    expect(inBusy(await stored(cut, true, burning))).toEqual(expected)
  },
)

test('so is one whose calls cost together more than a sample may, each a little less than a call may', async () => {
  const slowed = async (gas: number, isOneDear = false) =>
    (await stored(7, false, { ...burning, gas, isOneDear })).filter(said => said.startsWith('3350 Sampling'))
  expect(await slowed(1_900_000)).toEqual(['3350 SamplingSlowed'])
  // What a vault of thirty markets takes.
  expect(await slowed(900_000)).toEqual([])
  // One call alone that answers with next to nothing of its gas left.
  expect(await slowed(1_900_000, true)).toEqual(['3350 SamplingSlowed'])
  expect(await slowed(1_400_000, true)).toEqual([])
})
