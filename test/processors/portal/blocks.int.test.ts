import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { Subscription } from '../../../processors/handling/decode.ts'
import { finalBlocks } from '../../../processors/source/final-blocks.ts'
import { openPortalFinal, type PortalFinalOptions } from '../../../processors/source/portal-blocks.ts'
import { openPortal, type PortalOptions } from '../../../processors/source/portal-client.ts'
import type { GatewayBlock } from '../../gateway/blocks.ts'
import { address, generatedChain, word } from '../../portal/chain.ts'
import { evmDataset } from '../../portal/evm.ts'
import {
  type Dataset,
  type Fault,
  type PortalSettings,
  startPortal,
  type TestPortal,
} from '../../portal/server.ts'

const open: TestPortal[] = []
async function portalOf(dataset: Dataset, settings?: PortalSettings): Promise<TestPortal> {
  const portal = await startPortal(dataset, settings)
  open.push(portal)
  return portal
}
afterEach(async () => {
  await Promise.all(open.splice(0).map(portal => portal.close()))
})

const settings = { url: 'PORTAL_MAINNET', key: 'PORTAL_API_KEY or PORTAL_API_KEY_MAINNET' }
const client = (portals: readonly TestPortal[], more: Partial<PortalOptions> = {}) =>
  openPortal({
    network: 'mainnet',
    urls: portals.map(({ url }) => url),
    firstPause: 1,
    settings,
    ...more,
  })

type Row = [block: number, index: number, contract: string, input: string | undefined]

interface Reading {
  from?: number
  to?: number
  span?: number
  subscriptions?: () => Partial<Subscription>[]
  rpc?: PortalFinalOptions['rpc']
  finality?: number
  handled?: (batch: Row[]) => unknown
}

/** The logs of all batches, with the input of their transactions where that came. */
async function read(portal: ReturnType<typeof openPortal>, reading: Reading = {}): Promise<Row[]> {
  const { from = 0, to, span = Number.POSITIVE_INFINITY, subscriptions = () => ALL, handled } = reading
  const source = openPortalFinal({ portal, rpc: reading.rpc, finality: reading.finality ?? 0, pause: 1 })
  const rows: Row[] = []
  let next = from
  for await (const { blocks } of finalBlocks([{ from, to }], {
    source,
    subscriptions,
    span: () => span,
    stopOnHead: true,
    pollInterval: 5,
  })) {
    const heights = blocks.map(({ header }) => header.height)
    expect(heights).toEqual([...new Set(heights)].sort((a, b) => a - b))
    // The first block of a batch is there or its parent is the last one's: nothing is left out unseen.
    expect((heights.at(-1) ?? 0) - next).toBeLessThan(span)
    next = (heights.at(-1) ?? 0) + 1
    const batch = blocks.flatMap(({ header, logs, transactions }) =>
      logs.map((log): Row => {
        const call = transactions.find(({ hash }) => hash === log.transactionHash)
        return [header.height, log.logIndex, log.address, call?.input]
      }),
    )
    rows.push(...batch)
    await handled?.(batch)
  }
  return rows
}

const ALL = [{}]

/** What a chain has of contracts and topics, by other means. */
function expected(
  blocks: readonly GatewayBlock[],
  isWanted: (contract: string, topic: string, block: number) => boolean = () => true,
  hasInput = false,
): Row[] {
  return blocks.flatMap(({ header, logs }) =>
    logs
      .filter(log => isWanted(log.address, log.topics[0] ?? '', header.number))
      .map((log): Row => {
        const input = `0x${header.number.toString(16).padStart(8, '0')}`
        return [header.number, log.logIndex, log.address, hasInput ? input : undefined]
      }),
  )
}

const busy = generatedChain(400, n =>
  n % 3 === 0 ? [0, 1, 2, 3].map(i => ({ contract: i, topic: i % 2 })) : [],
)

const anyFault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constantFrom<Fault>(
    { status: 204 },
    { status: 429, retryAfter: '0' },
    { status: 529, retryAfter: '0' },
    { status: 500 },
    { status: 503 },
    { status: 409, body: { previousBlocks: [{ number: 7, hash: word(7) }] } },
    { change: lines => lines.flatMap(line => [line, line]) },
    { change: lines => [...lines, ...lines] },
    { change: lines => lines.slice(1) },
    { change: lines => lines.slice(0, -1) },
    { change: () => [] },
    { change: lines => lines.reverse() },
    { change: lines => lines.map(line => line.replaceAll('hash', 'hush')) },
  ),
  fc.nat({ max: 20_000 }).map((cutAfter): Fault => ({ cutAfter })),
  fc.nat({ max: 500 }).map((head): Fault => ({ head })),
)

describe('blocks of a Portal', () => {
  test('come whole, once and in order, whatever befalls its answers', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(anyFault, { nil: undefined }), { maxLength: 12 }),
        fc.constantFrom(7, 50, 1000),
        fc.constantFrom(1, 3, undefined),
        fc.nat({ max: 200 }),
        fc.constantFrom(5, 90, Number.POSITIVE_INFINITY),
        async (faults, chunk, mostChunks, from, span) => {
          const portals = [
            await portalOf(evmDataset(busy, { chunk }), { mostChunks, noDataDelay: 1 }),
            await portalOf(evmDataset(busy, { chunk: 20 }), { noDataDelay: 1 }),
          ]
          portals[0]?.faults.push(...faults.flatMap(fault => fault ?? []))
          const found = await read(client(portals), { from, span })
          expect(found).toEqual(expected(busy.slice(from)))
        },
      ),
      { numRuns: 60 },
    ))

  test('are those that are subscribed to, with transactions where these are wanted', async () => {
    const portal = await portalOf(evmDataset(busy))
    const subscriptions = () => [
      { topic0: [word(1)] },
      { topic0: [word(0)], address: [address(2)], transaction: true },
    ]
    const found = await read(client([portal]), { subscriptions })
    expect(found.map(([block, index]) => [block, index])).toEqual(
      expected(busy, (contract, topic) => topic === word(1) || contract === address(2)).map(
        ([block, index]) => [block, index],
      ),
    )
    const inputs = found.filter(([, , contract]) => contract === address(2))
    expect(inputs).toEqual(expected(busy, contract => contract === address(2), true))
  })

  test('of more contracts than a query holds come by several queries, together', async () => {
    const many = Array.from({ length: 13_000 }, (_, i) => address(i))
    const blocks = generatedChain(300, n => [
      { contract: n * 40, topic: 1 },
      { contract: 99_999, topic: 1 },
    ])
    const portal = await portalOf(evmDataset(blocks), { mostChunks: 2 })
    // Transfer: never asked of everybody.
    const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
    for (const { logs } of blocks) for (const log of logs) log.topics[0] = transfer
    const subscriptions = () => [{ topic0: [transfer], address: many }]
    const found = await read(client([portal]), { subscriptions, span: 17 })
    expect(found).toEqual(expected(blocks, contract => many.includes(contract)))
    expect(found).toHaveLength(300)
    const bodies = portal.requests.filter(({ body }) => body !== '').map(({ body }) => body)
    expect(new Set(bodies.map(body => body.slice(body.indexOf('"logs"')))).size).toBe(3)
  })

  test('of many contracts come by topics where these are rare, which a few blocks tell of, and seldom', async () => {
    const blocks = generatedChain(60_000, n =>
      n % 500 === 0 ? [0, 70_000].map(contract => ({ contract, topic: 2 })) : [],
    )
    const portal = await portalOf(evmDataset(blocks, { chunk: 10_000 }))
    const list = Array.from({ length: 20_000 }, (_, i) => address(i))
    const source = openPortalFinal({ portal: client([portal]), finality: 0 })
    const found: string[] = []
    for (let from = 0; from < 60_000; from += 1_000)
      for (const { logs } of await source.read([{ topic0: [word(2)], address: list }], from, from + 999))
        found.push(...logs.map(log => log.address))
    // Strangers' logs come, and are left out.
    expect(found).toEqual(Array.from({ length: 120 }, () => address(0)))
    const streams = portal.requests.filter(({ body }) => body !== '').map(({ body }) => JSON.parse(body))
    expect(streams.filter(({ fromBlock, toBlock }) => toBlock - fromBlock === 99)).toHaveLength(2)
    expect(streams).toHaveLength(62)
    expect(streams.filter(({ logs }) => logs[0].address)).toEqual([])
  })

  test('have the logs of contracts that are met meanwhile, in ranges that were read before too', async () => {
    const blocks = generatedChain(3_000, n => (n % 5 === 0 ? [{ contract: n % 2, topic: 1 }] : []))
    const portal = await portalOf(evmDataset(blocks, { chunk: 100 }))
    let known = [{ topic0: [word(1)], address: [address(0)] }]
    let metAt = Number.POSITIVE_INFINITY
    const found = await read(client([portal]), {
      span: 100,
      subscriptions: () => known,
      handled(batch) {
        const last = batch.at(-1)?.[0] ?? 0
        if (last < 700 || metAt < 3_000) return
        metAt = last
        known = [{ topic0: [word(1)], address: [address(0), address(1)] }]
      },
    })
    const before = expected(blocks, contract => contract === address(0))
    const later = expected(blocks, (contract, _, block) => contract === address(1) && block > metAt + 100)
    expect(found).toEqual(expect.arrayContaining([...before, ...later]))
    expect(found).toEqual([...found].sort(([a], [b]) => a - b))
    expect(found.filter(([block, , contract]) => contract === address(1) && block <= metAt)).toEqual([])
  })

  test('of contracts that are met meanwhile are held in pieces, where these say very much', async () => {
    const blocks = generatedChain(1_000, n => [
      ...(n % 10 === 0 ? [{ contract: 0, topic: 1 }] : []),
      ...(n >= 500 && n < 750 ? Array.from({ length: 100 }, () => ({ contract: 1, topic: 1 })) : []),
    ])
    const portal = await portalOf(evmDataset(blocks, { chunk: 100 }))
    let known = [{ topic0: [word(1)], address: [address(0)] }]
    const found = await read(client([portal]), {
      span: 100,
      subscriptions: () => known,
      handled() {
        known = [{ topic0: [word(1)], address: [address(0), address(1)] }]
      },
    })
    expect(found).toEqual(expected(blocks))
    expect(found.length).toBeGreaterThan(25_000)
  })

  test('end where the head is now: it may be lower than it was', async () => {
    const portal = await portalOf(evmDataset(busy), { noDataDelay: 1 })
    portal.headFaults.push({ head: 100 })
    const low = await read(client([portal]), { from: 50 })
    // Named by one Portal, and not known to the one behind it: asked for again until it is.
    portal.faults.push({ status: 204 }, { head: 20 }, { status: 204 })
    expect(await read(client([portal]), { from: low.at(-1)?.[0] ?? 0 })).toEqual(
      expected(busy.slice(low.at(-1)?.[0])),
    )
    portal.headFaults.push({ head: 10 })
    expect(await read(client([portal]), { from: 50, to: 40 })).toEqual([])
  })

  test('that are named as final and never come are told of', async () => {
    const portal = await portalOf(evmDataset(busy), { noDataDelay: 1 })
    portal.faults.push(...Array.from({ length: 40 }, () => ({ status: 204 })))
    await expect(read(client([portal]))).rejects.toThrow(/does not give blocks 0 to 399, which are final/)
    portal.faults.splice(0)
    const broken = Array.from({ length: 40 }, (): Fault => ({ change: lines => lines.slice(1) }))
    portal.faults.push(...broken)
    await expect(read(client([portal]))).rejects.toThrow(/block 0 is missing where/)
  })

  test('of another chain than the node’s are not taken, nor what is not final there', async () => {
    const portal = await portalOf(evmDataset(busy))
    const rpc = (branch: number): PortalFinalOptions['rpc'] => {
      const blocks = generatedChain(400, () => [], { branch })
      const refOf = (number: number) => {
        const { hash, parentHash, timestamp } = blocks[number]?.header ?? {
          hash: '',
          parentHash: '',
          timestamp: 0,
        }
        return { number, hash, parentHash, timestamp }
      }
      return { head: async () => refOf(320), header: async number => refOf(number) }
    }
    const found = await read(client([portal]), { rpc: rpc(0), finality: 30 })
    expect(found).toEqual(expected(busy.slice(0, 291)))
    await expect(read(client([portal]), { rpc: rpc(1), finality: 30 })).rejects.toThrow(
      /Block 290 of mainnet is 0x.* to the Portal and 0x.* to the node/,
    )
  })

  test('from before its first one are refused with what to set', async () => {
    const portal = await portalOf(evmDataset(generatedChain(100, () => [], { first: 500 })))
    await expect(read(client([portal]), { from: 7 })).rejects.toThrow(
      /has blocks from 500 on, and block 7 is to be read: set the network's START_BLOCK to 500/,
    )
    expect(await read(client([portal]), { from: 500 })).toEqual([])
  })
})

test('the Portal of these tests refuses what the published one refuses, and pins the ends of what it looked through', async () => {
  const blocks = generatedChain(100, () => [], { first: 10 })
  const { url } = await portalOf(evmDataset(blocks, { chunk: 40 }), { mostChunks: 2 })
  const ask = async (query: object, path = 'finalized-stream') => {
    const body = JSON.stringify({ type: 'evm', fromBlock: 10, ...query })
    return fetch(`${url}/${path}`, { method: 'POST', body })
  }
  for (const bad of [
    { fromBlock: 9 },
    { toBlock: 5 },
    { type: 'solana' },
    { extra: 1 },
    { logs: Array.from({ length: 101 }, () => ({})) },
    { logs: [{ address: Array.from({ length: 6_000 }, (_, i) => address(i)) }] },
    { logs: [{ address: [address(0xa).toUpperCase()] }] },
    { logs: [{ topic0: [word(1)], topics: [] }] },
  ])
    expect((await ask(bad)).status).toBe(400)
  expect((await ask({}, 'nowhere')).status).toBe(404)
  expect((await ask({ fromBlock: 110 })).status).toBe(204)
  const conflict = await ask({ fromBlock: 20, parentBlockHash: word(1) })
  expect([conflict.status, await conflict.json()]).toEqual([
    409,
    { previousBlocks: [{ number: 19, hash: blocks[9]?.header.hash }] },
  ])
  const answer = await ask({ fromBlock: 20, logs: [{ topic0: [word(1)] }] })
  expect(answer.headers.get('content-encoding')).toBe('gzip')
  expect(answer.headers.get('x-sqd-finalized-head-number')).toBe('109')
  const lines = (await answer.text()).trim().split('\n')
  expect(lines.map(line => JSON.parse(line).header.number)).toEqual([20, 39, 40, 79])
})

describe('a Portal', () => {
  test('is left alone for as long as it asks', async () => {
    for (const status of [429, 529, 503]) {
      const portal = await portalOf(evmDataset(busy))
      portal.faults.push({ status, retryAfter: '1' })
      expect(await read(client([portal]))).toHaveLength(536)
      const [first, second] = portal.requests.filter(({ path }) => path.endsWith('finalized-stream'))
      expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(990)
    }
  })

  test('gets the key, and says what to set where it wants another one', async () => {
    const portal = await portalOf(evmDataset(busy), { apiKey: 'k3y' })
    expect(await read(client([portal], { apiKey: 'k3y' }))).toHaveLength(536)
    expect(new Set(portal.requests.map(({ key }) => key))).toEqual(new Set(['k3y']))
    for (const apiKey of [undefined, 'other'])
      await expect(client([portal], { apiKey }).head()).rejects.toMatchObject({
        code: 'CONFIG',
        message: expect.stringContaining('set PORTAL_API_KEY or PORTAL_API_KEY_MAINNET'),
      })
  })

  test('is not asked again what it will never answer', async () => {
    const portal = await portalOf(evmDataset(busy))
    const wrong = client([{ ...portal, url: portal.url.replace('test', 'toast') }])
    await expect(wrong.head()).rejects.toThrow(/no such dataset: check PORTAL_MAINNET/)
    expect(portal.requests).toHaveLength(1)
  })

  test('that is away, or refuses, is stood in for by the next one', async () => {
    const gone = await portalOf(evmDataset(busy))
    await gone.close()
    const strict = await portalOf(evmDataset(busy), { apiKey: 'k3y' })
    const good = await portalOf(evmDataset(busy), { mostChunks: 1 })
    expect(await read(client([gone, strict, good]))).toEqual(expected(busy))
    // Whoever answers is asked on.
    expect(strict.requests).toHaveLength(1)
    await good.close()
    await expect(client([gone, good]).head()).rejects.toThrow(/The Portal of mainnet does not answer/)
  })
})
