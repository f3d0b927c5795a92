import { expect, test } from 'vitest'
import type { BlockEvents } from '../../../db/events/event-store.ts'
import { openWriter } from '../../../db/events/event-writer.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import type { WaitingContract } from '../../../db/events/waiting-contracts.ts'
import type { DeadLetter } from '../../../processors/handling/block.ts'
import type { Candidate } from '../../../processors/handling/decode.ts'
import { KnownContracts } from '../../../processors/knowledge/known-contracts.ts'
import { Looks } from '../../../processors/knowledge/looks.ts'
import type { Protocol, RawLog } from '../../../processors/protocol.ts'
import type { ChainRpc } from '../../../processors/source/rpc.ts'
import type { BlockLogs } from '../../../processors/source/rpc-logs.ts'
import { openToldTimes } from '../../../processors/source/told-times.ts'
import { handlerOf } from '../handler.ts'

const DEPOSIT = `0x${'d'.repeat(64)}`
const CREATED = `0x${'c'.repeat(64)}`
const FACTORY = `0x${'f'.repeat(40)}`
const address = (n: number) => `0x${(n + 1).toString(16).padStart(40, '0')}`
const HONEST = address(1_000)
const MADE = address(2_000)
const SECONDS = 12
const ref = (number: number) => ({
  number,
  hash: `0x${number.toString(16).padStart(64, '0')}`,
  timestamp: number * SECONDS,
})
/** Twice as many as have a turn every five minutes. */
const PER_HOUR = 24
const LAST = 2_000

const decoder = (topic0: string, type: 'Deposited' | 'VaultCreated') => ({
  signature: type,
  topic0,
  topicCount: 1,
  dataLength: 0,
  gives: [type],
  decode: ({ address: contract, logIndex, transactionHash }: RawLog) => [
    { type, contract, logIndex, transactionHash, data: type === 'VaultCreated' ? { vault: MADE } : {} },
  ],
})
const protocol = {
  name: 'plain',
  sources: [
    { kind: 'any', at: 'anywhere', decoders: [decoder(DEPOSIT, 'Deposited')] },
    { kind: 'factory', at: 'discovered', decoders: [decoder(CREATED, 'VaultCreated')] },
    { kind: 'vault', at: 'discovered', decoders: [] },
  ],
  teaches: ['VaultDiscovered'],
  proposes: ['Deposited', 'VaultCreated'],
  watches: (event: DomainEvent) =>
    event.type === 'VaultDiscovered' ? [{ kind: 'vault', contract: event.contract }] : [],
  candidates: (event: DomainEvent) => {
    if (event.type === 'VaultCreated') return [event.data.vault]
    return event.type === 'Deposited' ? [event.contract] : []
  },
  inspect: async (vault: string) =>
    vault === HONEST || vault === MADE
      ? [{ type: 'VaultDiscovered', contract: vault, data: { vault, deployedBlock: 1 } }]
      : [{ type: 'VaultRejected', contract: vault, data: { vault, reason: 'none' } }],
} as unknown as Protocol

/** A hundred strangers, one a block; then somebody honest, and a vault by a factory. */
const logs: BlockLogs[] = [
  ...Array.from({ length: 100 }, (_, n) => ({ number: n + 1, topic: DEPOSIT, from: address(n) })),
  { number: 101, topic: DEPOSIT, from: HONEST },
  { number: 102, topic: CREATED, from: FACTORY },
  { number: 150, topic: DEPOSIT, from: HONEST },
].map(({ number, topic, from }) => ({
  number,
  hash: ref(number).hash,
  logs: [{ address: from, topics: [topic], data: '0x', logIndex: 3, transactionHash: '0x1' }],
}))

const rpc = {
  header: async (number: number) => ref(number),
  times: openToldTimes(),
  logs: async ({ address: of = [], from, to }: { address?: string[]; from: number; to: number }) =>
    logs.filter(
      ({ number, logs: [log] }) => number >= from && number <= to && of.includes(log?.address ?? ''),
    ),
  transactions: async () => new Map(),
  calls: async () => [],
  reader: () => ({ troubles: new Map() }),
} as unknown as ChainRpc

/** What is stored of the chain, handled in batches of so many blocks, by one process or by a new one for each batch. */
async function stored(cut: number, restarts: boolean): Promise<{ block: number; event: DomainEvent }[]> {
  const events: BlockEvents[] = []
  const rows = new Map<string, WaitingContract>()
  const open = () => {
    const contracts = new KnownContracts([protocol])
    contracts.watchSources([{ kind: 'factory', contract: FACTORY }])
    for (const { block, events: own } of events)
      for (const event of own) contracts.learn(event, block.number, block.timestamp)
    contracts.commit()
    const looks = new Looks({
      contracts,
      perHour: PER_HOUR,
      finality: 5,
      waiting: [...rows.values()],
      listed: new Set(),
    })
    const handler = handlerOf({
      protocols: [protocol],
      contracts,
      looks,
      rpc,
    })
    return { contracts, looks, handler }
  }
  let process = open()
  for (let from = 1; from <= LAST; from += cut) {
    const to = Math.min(LAST, from + cut - 1)
    const { writer, blocks, waiting } = openWriter(new Map(), Number.MAX_SAFE_INTEGER, {
      height: from - 1,
      hash: ref(from - 1).hash,
    })
    const own = logs.filter(({ number }) => number >= from && number <= to)
    const batch = own.map(({ number, logs: list }) => ({ ref: ref(number), logs: [...list] }))
    if (batch.at(-1)?.ref.number !== to) batch.push({ ref: ref(to), logs: [] })
    await process.handler.handle(writer, batch)
    process.contracts.commit()
    process.looks.commit()
    events.push(...blocks)
    for (const row of waiting) rows.set(row.contract, row)
    if (restarts) process = open()
  }
  return events
    .flatMap(({ block, events: own }) => own.map(event => ({ block: block.number, event })))
    .filter(({ event }) => event.type !== 'VaultCreated')
    .sort((a, b) => a.block - b.block || (a.event.contract < b.event.contract ? -1 : 1))
}

const inWords = (list: { block: number; event: DomainEvent }[]) =>
  list.map(({ block, event }) => `${block} ${event.type} ${event.contract}`)

test('beyond the budget of an hour contracts wait, and are looked at in the order in which they came up', async () => {
  const all = await stored(1, false)
  const looked = (contract: string) =>
    all
      .filter(({ event }) => /^Vault/.test(event.type) && event.contract === contract)
      .map(({ block }) => block)
  // The first 24 in their own blocks; then, from the next hour on, two every 25 blocks: block 300 is one hour, 325 five minutes more.
  for (let n = 0; n < PER_HOUR; n++) expect(looked(address(n))).toEqual([n + 1])
  for (let n = PER_HOUR; n < 100; n++)
    expect(looked(address(n))).toEqual([300 + 25 * Math.floor((n - PER_HOUR) / 2)])
  // 76 waited before the honest one: 38 turns.
  expect(looked(HONEST)).toEqual([300 + 25 * 38])
  expect(looked(MADE)).toEqual([102])
})

test('what a contract logged while it waited is stored when it was looked at', async () => {
  const deposits = (await stored(1, false)).filter(
    ({ event }) => event.type === 'Deposited' && event.contract === HONEST,
  )
  expect(deposits.map(({ block }) => block)).toEqual([101, 150])
})

test.each([7, 90, 500, LAST])(
  'batches of %i blocks, and processes that stop after each, give the same',
  async cut => {
    const expected = inWords(await stored(1, false))
    expect(inWords(await stored(cut, false))).toEqual(expected)
    expect(inWords(await stored(cut, true))).toEqual(expected)
  },
)

test('a fork takes back who came up and who was looked at above its root', () => {
  const row = (n: number, block: number, lookedAt?: number): WaitingContract => ({
    contract: address(n),
    protocol: 'plain',
    isMade: false,
    block,
    logIndex: 0,
    lookedAt,
  })
  const looks = new Looks({
    contracts: new KnownContracts([protocol]),
    perHour: PER_HOUR,
    finality: 5,
    waiting: [row(1, 10), row(2, 11, 20), row(3, 12, 14), row(4, 19)],
    listed: new Set(),
  })
  expect(looks.due(0)[0]?.map(({ contract }) => contract)).toEqual([address(1), address(4)])
  looks.begin(15)
  expect(looks.due(0)[0]?.map(({ contract }) => contract)).toEqual([address(1), address(2)])
})

test('one block has no more looks than a turn, and the rest of the hour is for others', () => {
  const looks = new Looks({
    contracts: new KnownContracts([protocol]),
    perHour: 120,
    finality: 5,
    waiting: [],
    listed: new Set(),
  })
  const admitted = (block: number, from: number) =>
    Array.from({ length: 30 }, (_, n) =>
      looks.admits(candidate(from + n), { ...ref(block), timestamp: 100 }, []),
    ).filter(Boolean).length
  // A turn is a twelfth of an hour.
  expect(admitted(1, 0)).toBe(10)
  expect(looks.count()).toBe(20)
  // Whoever waits goes first.
  expect(admitted(2, 100)).toBe(0)
  expect(looks.due(400)).toEqual([expect.objectContaining({ length: 10 })])
})

const candidate = (n: number, hint?: 'VaultCreated'): Candidate => ({
  contract: address(n),
  protocol: 'plain',
  ...(hint ? { hint: { type: hint, contract: FACTORY, data: { vault: address(n) } } as DomainEvent } : {}),
})

test('those that factories made have looks of their own in a block in which strangers took all of theirs', () => {
  const looks = new Looks({
    contracts: new KnownContracts([protocol]),
    perHour: 120,
    finality: 5,
    waiting: [],
    listed: new Set(),
  })
  const found = Array.from({ length: 50 }, (_, n) => looks.admits(candidate(n), ref(1), []))
  expect(found.filter(Boolean)).toHaveLength(10)
  const made = Array.from({ length: 50 }, (_, n) =>
    looks.admits(candidate(100 + n, 'VaultCreated'), ref(1), []),
  )
  expect(made.filter(Boolean)).toHaveLength(10)
})

test('however many strangers wait, those that factories made wait beside them, and who waits already is not turned away', () => {
  const most = 20_000
  const waiting = Array.from(
    { length: most },
    (_, n): WaitingContract => ({
      contract: address(n),
      protocol: 'plain',
      isMade: false,
      block: 1,
      logIndex: n,
      // The first was looked at without a verdict, in a block that may still be replaced.
      ...(n === 0 ? { lookedAt: 50 } : {}),
    }),
  )
  const open = () =>
    new Looks({
      contracts: new KnownContracts([protocol]),
      perHour: 12,
      finality: 5,
      waiting,
      listed: new Set(),
    })
  const looks = open()
  looks.begin(52)
  expect(looks.count()).toBe(most - 1)

  const letters: DeadLetter[] = []
  // One has a look, the other waits.
  expect(looks.admits(candidate(most, 'VaultCreated'), ref(53), letters)).toBe(true)
  expect(looks.admits(candidate(most + 1, 'VaultCreated'), ref(53), letters)).toBe(false)
  expect(looks.count()).toBe(most)
  expect(looks.admits(candidate(0), ref(53), letters)).toBe(false)
  expect(looks.count()).toBe(most + 1)
  expect(letters).toEqual([])

  // One more stranger is told of.
  expect(looks.admits(candidate(most + 2), ref(53), letters)).toBe(false)
  expect(looks.count()).toBe(most + 1)
  expect(letters.map(({ stage, contract }) => `${stage} ${contract}`)).toEqual([
    `inspect ${address(most + 2)}`,
  ])
})
