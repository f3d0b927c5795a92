import { expect, test } from 'vitest'
import type { BlockEvents } from '../../../db/events/event-store.ts'
import { openWriter } from '../../../db/events/event-writer.ts'
import type { OlderSource } from '../../../db/events/older-logs.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { KnownContracts } from '../../../processors/knowledge/known-contracts.ts'
import { OlderLogs } from '../../../processors/knowledge/older-logs.ts'
import type { ChainRpc } from '../../../processors/source/rpc.ts'
import { type BlockLogs, type LogRange, TooManyLogsError } from '../../../processors/source/rpc-logs.ts'

const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const RANGE = 10_000
const RANGES = 20
const HONEST = address(9_999)

test('nobody waits behind strangers: all that wait are fetched in one sweep, what is taken anywhere among it', async () => {
  const stored = new Map<string, OlderSource>(
    Array.from({ length: 300 }, (_, n): [string, OlderSource] => [
      address(n),
      { kind: 'vault', contract: address(n), cursor: -1 + (n % 3) * 500, to: RANGE * RANGES },
    ]),
  )
  stored.set(HONEST, { kind: 'vault', contract: HONEST, cursor: RANGE * 15, to: RANGE * 17 })
  const asked: { address?: string[]; topics?: string[][]; from: number; to: number }[] = []
  const rpc = {
    async logs(filter: (typeof asked)[number]): Promise<BlockLogs[]> {
      asked.push(filter)
      const number = RANGE * 16
      if (!filter.address?.includes(HONEST) || filter.from > number || filter.to < number) return []
      const topics = [filter.topics?.[0]?.includes('deposit') ? 'deposit' : 'transfer']
      const log = { address: HONEST, topics, data: '0x', logIndex: 0, transactionHash: '0x1' }
      return [{ number, hash: '0xaa', logs: [log] }]
    },
  } as unknown as ChainRpc
  const contracts = new KnownContracts([])
  contracts.watchSources([...stored.values()])
  const older = new OlderLogs({
    rpc,
    contracts,
    finality: 5,
    perDay: 1_000,
    topics: kind => (kind === 'any' ? ['deposit'] : ['transfer']),
    withBesides: sources => [...sources, ...sources.map(({ contract }) => ({ kind: 'any', contract }))],
    handle: async found =>
      found.map(({ number, hash, logs }): BlockEvents => {
        const [log] = logs
        const data = { topic: log?.topics[0] } as never
        return {
          block: { number, hash, timestamp: number },
          events: [{ type: 'Deposited', contract: log?.address ?? '', data }],
        }
      }),
    read: async () => [...stored.values()],
  })
  older.start()
  const events: BlockEvents[] = []
  // Batches come on and on, until nobody waits.
  await expect
    .poll(
      () => {
        const { writer, blocks, olderSources } = openWriter(new Map(), 0, { height: 0, hash: '0x' })
        older.take(writer, 0)
        events.push(...blocks)
        for (const source of olderSources()) {
          if (source.cursor >= source.to) stored.delete(source.contract)
          else stored.set(source.contract, source)
        }
        older.commit()
        return stored.size
      },
      { interval: 5 },
    )
    .toBe(0)
  older.stop()
  expect(events.map(({ block, events: own }) => [block.number, own[0]?.contract, own[0]?.data])).toEqual([
    [RANGE * 16, HONEST, { topic: 'deposit' }],
  ])
  // One sweep: the ranges, and a few more where some begin or end amid one.
  expect(asked.length).toBeLessThan(RANGES + 10)
})

test('of what a contract logged shortly before its discovery as much comes with the batch as it may have in a day, and is final', async () => {
  const loud = address(7)
  const asked: [number, number][] = []
  const rpc = {
    // Ten logs in every block.
    async logs({ from, to }: { from: number; to: number }): Promise<BlockLogs[]> {
      asked.push([from, to])
      return Array.from({ length: to - from + 1 }, (_, i) => ({
        number: from + i,
        hash: '0xaa',
        logs: Array.from({ length: 10 }, (_, logIndex) => ({
          address: loud,
          topics: [],
          data: '0x',
          logIndex,
          transactionHash: '0x1',
        })),
      }))
    },
  } as unknown as ChainRpc
  const open = (perDay: number) =>
    new OlderLogs({
      rpc,
      contracts: new KnownContracts([]),
      finality: 50,
      perDay,
      topics: () => [],
      withBesides: sources => [...sources],
      handle: async () => [],
      read: async () => [],
    })
  const near = async (perDay: number) => {
    const { writer, olderSources } = openWriter(new Map(), 0, { height: 0, hash: '0x' })
    const blocks = await open(perDay).near(writer, [{ kind: 'vault', contract: loud }], 1_000, 9_000)
    return { blocks, rest: olderSources() }
  }
  const some = await near(1_000)
  // Windows of 51, 102 blocks: after the second it is more than a thousand.
  expect(asked).toEqual([
    [8_949, 8_999],
    [8_847, 8_948],
  ])
  expect(some.blocks.map(({ number }) => number)).toEqual(Array.from({ length: 153 }, (_, i) => 8_847 + i))
  expect(some.rest).toEqual([{ kind: 'vault', contract: loud, cursor: 999, to: 8_846 }])
  const all = await near(1_000_000)
  expect([all.blocks.length, all.rest]).toEqual([8_000, []])
  const few = await near(1)
  expect([few.blocks.length, few.rest[0]?.to]).toEqual([51, 8_948])
})

test('one that a fork makes unknown for a while loses nothing of what it logged before', async () => {
  const LATE = address(1)
  const DISCOVERED = RANGE * RANGES + RANGE + 5
  const discovery: DomainEvent = {
    type: 'VaultDiscovered',
    contract: LATE,
    data: { vault: LATE, asset: HONEST, protocol: 'found', decimals: 18, assetDecimals: 18 } as never,
  }
  const contracts = new KnownContracts([
    {
      name: 'found',
      sources: [],
      teaches: ['VaultDiscovered'],
      watches: ({ contract }) => [{ kind: 'vault', contract }],
    },
  ])
  contracts.watchSources([{ kind: 'vault', contract: HONEST }])
  contracts.learn(discovery, DISCOVERED)
  contracts.commit()
  let rows: OlderSource[] = [
    { kind: 'vault', contract: HONEST, cursor: -1, to: RANGE * RANGES },
    { kind: 'vault', contract: LATE, cursor: -1, to: DISCOVERED - RANGE - 1 },
  ]
  const rpc = {
    async logs({ address: some, from, to }: { address?: string[]; from: number; to: number }) {
      // A batch begins that takes the discovering block back, and brings it again when some ranges have been asked for.
      if (from > RANGE * 3 && from < RANGE * 6) contracts.begin(DISCOVERED - 1)
      const number = Math.ceil(from / RANGE) * RANGE
      if (!some?.includes(LATE) || number > to) return []
      const log = { address: LATE, topics: ['transfer'], data: '0x', logIndex: 0, transactionHash: '0x1' }
      return [{ number, hash: '0xaa', logs: [log] }]
    },
  } as unknown as ChainRpc
  const older = new OlderLogs({
    rpc,
    contracts,
    finality: 5,
    perDay: 1_000,
    topics: () => ['transfer'],
    withBesides: sources => [...sources],
    handle: async found =>
      found.map(
        ({ number, hash }): BlockEvents => ({
          block: { number, hash, timestamp: number },
          events: [{ type: 'Deposited', contract: LATE, data: {} as never }],
        }),
      ),
    read: async () => rows,
  })
  older.start()
  const found = new Set<number>()
  await expect
    .poll(
      () => {
        const { writer, blocks, olderSources } = openWriter(new Map(), 0, { height: 0, hash: '0x' })
        older.take(writer, 0)
        const isBack = rows.every(({ contract, cursor }) => contract !== HONEST || cursor > RANGE * 8)
        if (isBack && !contracts.knows('vault', LATE)) {
          contracts.learn(discovery, DISCOVERED)
          older.add(writer, { kind: 'vault', contract: LATE }, { created: 0, discovered: DISCOVERED })
        }
        for (const { block } of blocks) found.add(block.number)
        const stored = olderSources()
        const isSame = (one: OlderSource) => (other: OlderSource) =>
          one.contract === other.contract && one.to === other.to
        rows = [...rows.filter(row => !stored.some(isSame(row))), ...stored].filter(
          ({ cursor, to }) => cursor < to,
        )
        contracts.commit()
        older.commit()
        return rows.length
      },
      { interval: 5, timeout: 10_000 },
    )
    .toBe(0)
  older.stop()
  expect([...found].sort((a, b) => a - b)).toEqual(Array.from({ length: RANGES + 1 }, (_, n) => n * RANGE))
})

test('what a contract logs is held in pieces: what is beyond them is left to be fetched beside the blocks', async () => {
  const asked: [number, number][] = []
  const rpc = {
    // Three thousand in a block.
    async logs(filter: LogRange): Promise<BlockLogs[]> {
      const { from, to, most = Number.POSITIVE_INFINITY } = filter
      asked.push([from, to])
      const fits = Math.floor(most / 3_000)
      if (to - from + 1 > fits) throw new TooManyLogsError(filter, from + fits - 1)
      return Array.from({ length: to - from + 1 }, (_, i) => ({
        number: from + i,
        hash: '0xaa',
        logs: Array.from({ length: 3_000 }, (_, logIndex) => ({
          address: HONEST,
          topics: [],
          data: '0x',
          logIndex,
          transactionHash: '0x1',
        })),
      }))
    },
  } as unknown as ChainRpc
  const older = new OlderLogs({
    rpc,
    contracts: new KnownContracts([]),
    finality: 64,
    perDay: 20_000,
    topics: () => [],
    withBesides: sources => [...sources],
    handle: async () => [],
    read: async () => [],
  })
  const sources = [{ kind: 'vault', contract: HONEST }]
  const { writer, olderSources } = openWriter(new Map(), Number.MAX_SAFE_INTEGER, { height: 0, hash: '0x' })
  const since = await older.since(writer, sources, 5_000, 6_000)
  expect([since.logs[0]?.number, since.logs.at(-1)?.number, since.to]).toEqual([5_000, 5_005, 5_005])
  const before = await older.near(writer, sources, 1_000, 5_000)
  const reached = before[0]?.number ?? 0
  expect(before.map(({ number }) => number)).toEqual(
    Array.from({ length: 5_000 - reached }, (_, i) => reached + i),
  )
  expect(before.length).toBeLessThan(20)
  expect(olderSources()).toEqual([
    { kind: 'vault', contract: HONEST, cursor: 5_005, to: 6_000 },
    { kind: 'vault', contract: HONEST, cursor: 999, to: reached - 1 },
  ])
  expect(asked.length).toBeLessThan(12)
})
