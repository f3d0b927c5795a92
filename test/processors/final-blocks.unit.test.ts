import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Subscription } from '../../processors/handling/decode.ts'
import { finalBlocks } from '../../processors/source/final-blocks.ts'
import { openRpcFinal, type RpcFinalOptions } from '../../processors/source/rpc-final.ts'
import { type BlockLogs, TooManyLogsError } from '../../processors/source/rpc-logs.ts'
import { openToldTimes } from '../../processors/source/told-times.ts'

const TOPIC = `0x${'d'.repeat(64)}`
const OTHER = `0x${'e'.repeat(64)}`
const VAULT = `0x${'1'.repeat(40)}`
const LATE = `0x${'2'.repeat(40)}`
const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

interface Chain {
  /** Heights of the head, one for each time it is asked for; the last one stays. */
  heads: number[]
  /** How many logs the vault has in a block, and how many another contract. */
  logs?: (height: number) => number
  late?: (height: number) => number
  /** From this block on there is nothing. */
  broken?: number
  /** Milliseconds that a request for logs takes. */
  takes?: (from: number) => number
  /** Blocks that are not had at the first look. */
  isSlow?: (height: number) => boolean
  /** The branch of which a block's logs are. */
  hashOfLogs?: (height: number) => string
  /** The time that a block's logs say. */
  tells?: (height: number) => number | undefined
}

type Filter = Parameters<RpcFinalOptions['rpc']['logs']>[0]

/** A node, and what it was asked. */
function node({
  heads,
  logs = () => 0,
  late = () => 0,
  broken = Number.POSITIVE_INFINITY,
  takes = () => 0,
  isSlow = () => false,
  hashOfLogs = hash,
  tells = () => undefined,
}: Chain) {
  const asked: Filter[] = []
  const headers: number[] = []
  /** Logs of the longest answer. */
  let longest = 0
  const logsOf = (height: number): BlockLogs => {
    const of = (address: string, count: number, first: number) =>
      Array.from({ length: count }, (_, i) => ({
        address,
        topics: [TOPIC],
        data: '0x',
        logIndex: first + i,
        transactionHash: hash(1),
      }))
    const all = [...of(VAULT, logs(height), 0), ...of(LATE, late(height), 10_000)]
    return { number: height, hash: hashOfLogs(height), toldTime: tells(height), logs: all }
  }
  const rpc: RpcFinalOptions['rpc'] = {
    times: openToldTimes(),
    async head() {
      const number = (heads.length > 1 ? heads.shift() : heads[0]) ?? 0
      return { number, hash: hash(number), timestamp: number }
    },
    async header(number) {
      headers.push(number)
      if (isSlow(number) && headers.filter(at => at === number).length < 2) return undefined
      return { number, hash: hash(number), parentHash: hash(number - 1), timestamp: number }
    },
    async logs(filter) {
      const { from, to, address, topics } = filter
      asked.push(filter)
      await sleep(takes(from))
      if (to >= broken) throw new Error(`refused: ${from} to ${to}`)
      const found = Array.from({ length: to - from + 1 }, (_, i) => logsOf(from + i))
        .map(block => ({
          ...block,
          logs: block.logs.filter(
            log =>
              (address?.includes(log.address) ?? true) &&
              (topics?.[0]?.includes(log.topics[0] ?? '') ?? true),
          ),
        }))
        .filter(block => block.logs.length > 0)
      let held = 0
      for (const block of found) {
        held += block.logs.length
        if (held > (filter.most ?? Number.POSITIVE_INFINITY) && from < to)
          throw new TooManyLogsError(filter, Math.max(from, block.number - 1))
      }
      longest = Math.max(longest, held)
      return found
    },
  }
  return { rpc, asked, headers, longest: () => longest }
}

interface Reading {
  from?: number
  to?: number
  stopOnHead?: boolean
  span?: () => number
  subscriptions?: () => Partial<Subscription>[]
}

const ofVault = [{ topic0: [TOPIC], address: [VAULT] }]

/** The batches' blocks, as height and how many logs; `handling` takes as long as the caller wants. */
async function batches(
  { rpc }: Pick<ReturnType<typeof node>, 'rpc'>,
  { from = 0, to, span = () => Number.POSITIVE_INFINITY, ...options }: Reading = {},
  handling: (batch: [number, number][]) => unknown = () => {},
) {
  const found: [number, number][][] = []
  for await (const { blocks } of finalBlocks([{ from, to }], {
    source: openRpcFinal({ rpc, finality: 0, span }),
    pollInterval: 20,
    span,
    stopOnHead: true,
    subscriptions: () => ofVault,
    ...options,
  })) {
    expect(blocks.map(({ header }) => header.hash)).toEqual(blocks.map(({ header }) => hash(header.height)))
    found.push(blocks.map(({ header, logs }) => [header.height, logs.length]))
    await handling(found.at(-1) ?? [])
  }
  return found
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

describe('final blocks', () => {
  test('with logs come once and in order, with the last one, whatever the node takes', () =>
    fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 50 }),
        fc.nat({ max: 500 }),
        fc.integer({ min: 1, max: 400 }),
        fc.constantFrom(1, 2, 7, 1000),
        fc.constantFrom(1, 3, 60),
        fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 9 }),
        async (from, more, span, every, logs, delays) => {
          const to = from + more
          const chain = node({
            heads: [to],
            logs: height => (height % every === 0 ? logs : 0),
            takes: at => delays[at % delays.length] ?? 0,
            isSlow: height => height % 5 === 3,
          })
          const found = await batches(chain, { from, span: () => span })
          const heights = found.flat().map(([height]) => height)
          expect(heights).toEqual([...new Set(heights)].sort((a, b) => a - b))
          expect(heights.at(-1)).toBe(to)
          expect(found.flat().filter(([, count]) => count > 0)).toEqual(
            range(from, to).flatMap(height => (height % every === 0 ? [[height, logs]] : [])),
          )
          let next = from
          for (const batch of found) {
            const last = batch.at(-1)?.[0] ?? 0
            expect(last - next).toBeLessThan(span)
            expect(batch.filter(([, count]) => count > 0).length).toBeLessThanOrEqual(100)
            next = last + 1
          }
        },
      ),
      { numRuns: 25 },
    ))

  test('that came while others were handled come together', async () => {
    const found = await batches(node({ heads: [99], logs: () => 100 }), {}, () => sleep(20))
    expect(
      found
        .flat()
        .filter(([, count]) => count > 0)
        .map(([height]) => height),
    ).toEqual(range(0, 99))
    expect(found.length).toBeLessThanOrEqual(4)
  })

  test('are not asked for one by one: fifty thousand with few logs take a few requests', async () => {
    const chain = node({ heads: [49_999], logs: height => (height % 1000 === 7 ? 1 : 0) })
    await batches(chain)
    expect(chain.asked.length + chain.headers.length).toBeLessThan(120)
    expect(Math.max(...chain.asked.map(({ from, to }) => to - from + 1))).toBeGreaterThan(5_000)
  })

  test('are asked for few at once where they hold much', async () => {
    const widths = async (logs: number) => {
      const chain = node({ heads: [2000], logs: () => logs })
      await batches(chain)
      return chain.asked.filter(({ from }) => from > 1000).map(({ from, to }) => to - from + 1)
    }
    expect(Math.max(...(await widths(100)))).toBe(20)
    expect(Math.max(...(await widths(20)))).toBe(100)
  })

  test('have the logs of contracts that are met meanwhile, from the next batch on, in ranges fetched before too', async () => {
    const chain = node({
      heads: [5000],
      logs: height => (height % 50 === 0 ? 1 : 0),
      late: height => (height % 70 === 0 ? 2 : 0),
    })
    let known = ofVault
    let metAt = Number.POSITIVE_INFINITY
    const found = await batches(chain, { subscriptions: () => known }, batch => {
      const last = batch.at(-1)?.[0] ?? 0
      if (last < 500 || known !== ofVault) return
      metAt = last
      known = [{ topic0: [TOPIC], address: [VAULT, LATE] }]
    })
    expect(metAt).toBeLessThan(4000)
    const expected = range(0, 5000).map((height): [number, number] => [
      height,
      (height % 50 === 0 ? 1 : 0) + (height > metAt && height % 70 === 0 ? 2 : 0),
    ])
    expect(found.flat().filter(([, count]) => count > 0)).toEqual(expected.filter(([, count]) => count > 0))
    // Of what was fetched before, the new one's alone are asked for again.
    const vaults = chain.asked.filter(({ address }) => address?.includes(VAULT))
    expect(vaults.map(({ from }) => from)).toEqual([...new Set(vaults.map(({ from }) => from))])
  })

  test('are held in pieces where days without logs end in blocks full of them, and all of them come', async () => {
    const burst = (height: number) =>
      height >= 30_000 && height < 30_040 ? 3_000 : height % 5_000 === 1 ? 1 : 0
    const known = node({ heads: [40_000], logs: burst })
    const found = await batches(known)
    const withLogs = (batch: [number, number][]) => batch.filter(([, count]) => count > 0)
    const expected = withLogs(range(0, 40_000).map(height => [height, burst(height)]))
    expect(withLogs(found.flat())).toEqual(expected)
    expect(Math.max(...known.asked.map(({ from, to }) => to - from))).toBeGreaterThan(5_000)
    expect(known.longest()).toBeLessThanOrEqual(20_000)
    // The same where they are of a contract that is met after its blocks were fetched.
    let subscriptions = ofVault
    const met = node({ heads: [40_000], late: burst, logs: height => (height % 100 === 0 ? 1 : 0) })
    const later = await batches(met, { subscriptions: () => subscriptions }, batch => {
      if ((batch.at(-1)?.[0] ?? 0) > 20_000) subscriptions = [{ topic0: [TOPIC], address: [VAULT, LATE] }]
    })
    const meeting = later.findIndex(batch => (batch.at(-1)?.[0] ?? 0) > 20_000)
    expect(withLogs(later.slice(meeting + 1).flat()).filter(([, count]) => count >= 3_000)).toHaveLength(40)
    const heights = later.flat().map(([height]) => height)
    expect(heights).toEqual([...new Set(heights)].sort((a, b) => a - b))
    expect(heights.at(-1)).toBe(40_000)
    expect(met.longest()).toBeLessThanOrEqual(20_000)
  })

  test('of two branches are refused', async () => {
    const chain = node({
      heads: [99],
      logs: () => 1,
      hashOfLogs: height => hash(height === 35 ? 77 : height),
    })
    await expect(batches(chain)).rejects.toThrow('block 35')
  })

  test('before one that cannot be had are handed out first', async () => {
    const found: number[] = []
    const chain = node({ heads: [199], logs: () => 100, broken: 135 })
    const reading = batches(chain, {}, batch => {
      found.push(...batch.map(([height]) => height))
      return sleep(10)
    })
    await expect(reading).rejects.toThrow('refused: 100 to 199')
    expect(found).toEqual(range(0, 99))
  })

  test('end at the head, or go on with it up to the last one that is wanted', async () => {
    const heights = (found: [number, number][][]) => found.flat().map(([height]) => height)
    const grown = await batches(node({ heads: [1200, 1205], logs: () => 10 }), {}, () => sleep(30))
    expect(heights(grown)).toEqual(range(0, 1205))
    const waited = await batches(node({ heads: [2, 2, 2, 5, 9, 30], logs: () => 1 }), {
      to: 20,
      stopOnHead: false,
    })
    expect(heights(waited)).toEqual(range(0, 20))
    expect(await batches(node({ heads: [3] }), { from: 4 })).toEqual([])
  })
})

describe('times that come with logs', () => {
  /** Of blocks as they are handed out, by height; a header's is the height itself. */
  async function timesOf({ rpc }: Pick<ReturnType<typeof node>, 'rpc'>) {
    const found = new Map<number, number>()
    const span = () => Number.POSITIVE_INFINITY
    for await (const { blocks } of finalBlocks([{ from: 0 }], {
      source: openRpcFinal({ rpc, finality: 0, span }),
      pollInterval: 20,
      span,
      stopOnHead: true,
      subscriptions: () => ofVault,
    }))
      for (const { header } of blocks) found.set(header.height, header.timestamp / 1000)
    return found
  }
  const right = new Map(range(0, 2999).map(height => [height, height]))
  const chain = (tells: Chain['tells']) => node({ heads: [2999], logs: () => 10, tells })

  test('spare the headers of blocks between the ends of ranges, once some have said the same', async () => {
    const told = chain(height => height)
    expect(await timesOf(told)).toEqual(right)
    expect(told.headers.length).toBeLessThan(750)
    // Of a run that follows, all but the ends of its ranges.
    const before = told.headers.length
    expect(await timesOf(told)).toEqual(right)
    expect(told.headers.length - before).toBeLessThan(100)
  })

  test.each([
    ['are not said', () => undefined],
    ['are said by some blocks and wrong in the first', (height: number) => (height < 3 ? 7 : height)],
    [
      'are those of other blocks at the ends of ranges',
      (height: number) => height + (height >= 1000 ? 1 : 0),
    ],
    ['are out of order later', (height: number) => (height > 1000 && height % 2 === 0 ? height - 5 : height)],
    ['are of a later day', (height: number) => (height > 1000 ? height + 86_400 : height)],
  ])(
    'are not believed where they %s: no block is handed out with another time than its own',
    async (_, tells) => {
      const told = chain(tells)
      expect(await timesOf(told)).toEqual(right)
      expect(new Set(told.headers).size).toBeGreaterThan(1_800)
    },
  )

  test('that turn out wrong under the logs of a contract that is met meanwhile have the range fetched again', async () => {
    const told = node({
      heads: [2999],
      logs: () => 10,
      late: height => (height % 7 === 0 ? 1 : 0),
      tells: height => height,
    })
    const { logs } = told.rpc
    told.rpc.logs = async filter =>
      (await logs(filter)).map(block => ({
        ...block,
        ...(filter.address?.includes(VAULT) ? {} : { toldTime: block.number - 86_400 }),
      }))
    let subscriptions: Partial<Subscription>[] = ofVault
    const reading = batches(told, { subscriptions: () => subscriptions }, batch => {
      if ((batch.at(-1)?.[0] ?? 0) > 1000) subscriptions = [...ofVault, { topic0: [TOPIC], address: [LATE] }]
    })
    await expect(reading).rejects.toThrow('wrong times')
    expect(await timesOf(told)).toEqual(right)
  })
})

describe('logs of many contracts', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`)

  test('are asked for by lists, and by topic where that takes fewer requests', async () => {
    const rare = node({ heads: [9_999], logs: height => (height % 100 === 0 ? 1 : 0) })
    await batches(rare, { subscriptions: () => [{ topic0: [TOPIC], address: [...many(2_000), VAULT] }] })
    expect(rare.asked.filter(({ address }) => !address).length).toBeGreaterThan(0)
    expect(rare.asked.filter(({ address }) => address)).toEqual([])
    const common = node({ heads: [199], late: () => 200 })
    await batches(common, { subscriptions: () => [{ topic0: [TOPIC], address: many(1_200) }] })
    const lists = common.asked.filter(({ address }) => address)
    expect(Math.max(...lists.map(({ address = [] }) => address.length))).toBe(500)
    expect(new Set(lists.flatMap(({ address }) => address)).size).toBe(1_200)
    // To find out how many there are.
    expect(common.asked.filter(({ address }) => !address).length).toBeLessThan(lists.length / 2)
  })

  test('are not asked for by topics that are asked for everywhere', async () => {
    const chain = node({ heads: [99], logs: () => 1 })
    const found = await batches(chain, {
      subscriptions: () => [{ topic0: [TOPIC] }, { topic0: [TOPIC, OTHER], address: [VAULT] }],
    })
    expect(found.flat().filter(([, count]) => count === 1).length).toBe(100)
    expect(new Set(chain.asked.map(({ address, topics }) => `${address} ${topics}`))).toEqual(
      new Set([`undefined ${TOPIC}`, `${VAULT} ${OTHER}`]),
    )
  })
})
