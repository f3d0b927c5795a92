import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { encodeEventData } from '../../../db/events/event-json.ts'
import {
  appendEvents,
  type BlockEvents,
  lockStreamHead,
  readEvents,
  readEventsAt,
  registerStream,
} from '../../../db/events/event-store.ts'
import { PACK_FROM, PACK_UP_TO, type PackKeys } from '../../../db/events/packs.ts'
import { type DomainEvent, vocabulary } from '../../../db/events/vocabulary.ts'
import { inTransaction } from '../../../db/postgres.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'

/** Samples of a block lie in one row of the event store, and are read one by one as they were appended. */

const HOUR = 3_600
let store: TestPostgres
let streams = 0
beforeAll(async () => {
  store = await createPostgres()
})
afterAll(() => store.drop())

const address = (n: number) => `0x${(n + 1).toString(16).padStart(40, '0')}`

interface State {
  totalAssets?: bigint
  totalSupply?: bigint
  sharePrice?: bigint
  finePrice?: bigint
  fineDigits?: number
}

const sample = (n: number, state: State, reason: 'hourly' | 'activity' = 'hourly'): DomainEvent => ({
  type: 'StateSampled',
  protocol: 'erc-4626',
  contract: address(n),
  data: { vault: address(n), reason, ...state, decimals: 18, assetDecimals: 6 },
})

const transfer = (n: number): DomainEvent => ({
  type: 'ShareTransferred',
  contract: address(n),
  logIndex: n,
  transactionHash: `0x${'7'.repeat(64)}`,
  data: { from: address(n), to: address(n + 1), shares: 5n },
})

const blockOf = (number: number, events: DomainEvent[], time = number * HOUR): BlockEvents => ({
  block: { number, hash: `0x${number.toString(16).padStart(64, '0')}`, timestamp: 1_700_000_000 + time },
  events,
})

async function newStream(): Promise<number> {
  const stream = 1000 + ++streams
  await registerStream(store.pool, stream, `chain ${stream}`, 'evm')
  return stream
}

class Undone extends Error {}

/** As a processor appends a batch. `isUndone`: the transaction does not come to its end. */
async function append(
  stream: number,
  blocks: readonly BlockEvents[],
  keys?: PackKeys,
  isUndone = false,
): Promise<void> {
  await inTransaction(store.pool, async tx => {
    const head = await appendEvents(tx, stream, await lockStreamHead(tx, stream), blocks, keys)
    await tx.query('UPDATE stream SET head = $2 WHERE id = $1', [stream, head])
    if (isUndone) throw new Undone()
  }).catch(error => {
    if (!(error instanceof Undone)) throw error
  })
}

/** What was appended, at the positions that follow one after the other. */
const linesOf = (blocks: readonly BlockEvents[]) =>
  blocks
    .flatMap(({ block, events }) => events.map(event => ({ block, event })))
    .map(({ block, event }, i) => ({
      position: i + 1,
      type: event.type,
      protocol: event.protocol ?? '',
      block_number: block.number,
      block_hash: block.hash,
      block_time: block.timestamp,
      tx_hash: event.transactionHash ?? null,
      log_index: event.logIndex ?? null,
      contract: event.contract,
      data: JSON.parse(encodeEventData(event.data)),
    }))

async function expectStored(stream: number, blocks: readonly BlockEvents[], pageSize: number): Promise<void> {
  const expected = linesOf(blocks).map(line => ({ stream, ...line }))
  expect(await readEvents(store.pool, stream, { after: 0 })).toEqual(expected)
  const byPage = []
  for (let after = 0; ; ) {
    const page = await readEvents(store.pool, stream, { after, limit: pageSize })
    if (page.length === 0) break
    byPage.push(...page)
    after = page.at(-1)?.position ?? 0
  }
  expect(byPage).toEqual(expected)
  const middle = expected[expected.length >> 1]
  if (middle) {
    expect(await readEventsAt(store.pool, new Map([[stream, middle.position]]))).toEqual([middle])
    const range = { after: middle.position - 3, to: middle.position, types: ['StateSampled'] }
    const near = expected.slice(Math.max(0, middle.position - 3), middle.position)
    expect(await readEvents(store.pool, stream, range)).toEqual(
      near.filter(({ type }) => type === 'StateSampled'),
    )
  }
  // To the letter: what is verified is the text of both databases.
  const { rows } = await store.pool.query<{ data: string; same: string }>(
    `SELECT data::text AS data, ($2::jsonb[])[position]::text AS same FROM stored_events($1, 0, $3) ORDER BY position`,
    [
      stream,
      blocks.flatMap(({ events }) => events.map(({ data }) => encodeEventData(data))),
      expected.length,
    ],
  )
  expect(rows.filter(({ data, same }) => data !== same)).toEqual([])
}

const packsIn = async (stream: number) =>
  (
    await store.pool.query<{ position: number; count: number; key: number | null; bytes: number }>(
      `SELECT position, (data->>'count')::int AS count, (data->>'key')::int AS key, pg_column_size(data) AS bytes
       FROM event_log WHERE stream = $1 AND type = 'Packed' ORDER BY position`,
      [stream],
    )
  ).rows

const state: fc.Arbitrary<State> = fc.record(
  {
    totalAssets: fc.bigInt(0n, 3n).map(n => n * 10n ** 24n),
    totalSupply: fc.bigInt(0n, 2n),
    sharePrice: fc.constantFrom(1n, 2n ** 256n - 1n),
    fineDigits: fc.constantFrom(12, 0),
  },
  { requiredKeys: ['totalSupply'] },
)

/** What happens to a stream: samples of some vaults, in some order, with other events among them. */
const step = fc.record({
  states: fc.array(fc.tuple(fc.nat(39), state), { minLength: 0, maxLength: 60 }),
  isOrdered: fc.boolean(),
  cut: fc.option(fc.nat(59), { nil: undefined }),
  /** A new process, one whose transaction is undone, or another one in between. */
  fate: fc.constantFrom('next', 'next', 'next', 'restart', 'undone', 'other'),
  hours: fc.constantFrom(1, 1, 1, 30, -5),
  isAlone: fc.boolean(),
})

it('whatever is appended by whom is read as it was, position by position', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.integer({ min: 1, max: 70 }),
      async (steps, page) => {
        const stream = await newStream()
        let keys: PackKeys = new Map()
        const other: PackKeys = new Map()
        const all: BlockEvents[] = []
        let batch: BlockEvents[] = []
        let hour = 100
        for (const [i, { states, isOrdered, cut, fate, hours, isAlone }] of steps.entries()) {
          hour += hours
          const list = isOrdered ? [...states].sort(([a], [b]) => a - b) : states
          const events = list.map(([n, of]) => sample(n, of))
          if (cut !== undefined && cut < events.length) events.splice(cut, 0, transfer(cut))
          batch.push(blockOf(i + 1, events, hour * HOUR))
          if (!isAlone) continue
          if (fate === 'restart') keys = new Map()
          const isUndone = fate === 'undone'
          await append(stream, batch, fate === 'other' ? other : keys, isUndone)
          if (!isUndone) all.push(...batch)
          batch = []
        }
        await append(stream, batch, keys)
        all.push(...batch)
        await expectStored(stream, all, page)
      },
    ),
    { numRuns: 60 },
  )
})

it('an hour in which nothing is new costs next to nothing, and what is new costs what is new', async () => {
  const stream = await newStream()
  const keys: PackKeys = new Map()
  const of = (n: number): State => ({
    totalAssets: BigInt(n) * 10n ** 20n,
    totalSupply: BigInt(n) * 7n ** 20n,
    sharePrice: 1_000_123n,
    finePrice: 1_000_123_456_789_012_345n,
    fineDigits: 12,
  })
  const hour = (number: number, changed: number): BlockEvents =>
    blockOf(
      number,
      Array.from({ length: 400 }, (_, n) =>
        sample(n, n < changed ? { ...of(n), totalAssets: BigInt(number) * 10n ** 21n + BigInt(n) } : of(n)),
      ),
    )
  const blocks = [hour(1, 0), hour(2, 0), hour(3, 100), hour(4, 0)]
  for (const block of blocks) await append(stream, [block], keys)
  const packs = await packsIn(stream)
  expect(packs.map(({ position, count, key }) => ({ position, count, key }))).toEqual([
    { position: 400, count: 400, key: null },
    { position: 800, count: 400, key: 400 },
    { position: 1200, count: 400, key: 400 },
    { position: 1600, count: 400, key: 400 },
  ])
  const [full = 0, same = 0, some = 0] = packs.map(({ bytes }) => bytes)
  expect(same / 400).toBeLessThan(5)
  expect((some - same) / 100).toBeLessThan(60)
  expect(full / 400).toBeLessThan(200)
  await expectStored(stream, blocks, 333)
})

it('a day later, after a restart, or where other vaults are sampled they are told of in full', async () => {
  const stream = await newStream()
  const keys: PackKeys = new Map()
  const block = (number: number, time: number, first: number) =>
    blockOf(
      number,
      Array.from({ length: 20 }, (_, n) => sample(first + n, { totalAssets: 1n })),
      time,
    )
  const blocks = [
    block(1, 0, 0),
    block(2, 24 * HOUR - 1, 0),
    block(3, 24 * HOUR, 0),
    block(4, 25 * HOUR, 9),
    block(5, 26 * HOUR, 18),
    block(6, 27 * HOUR, 18),
  ]
  for (const each of blocks.slice(0, 5)) await append(stream, [each], keys)
  await append(stream, blocks.slice(5), new Map())
  expect((await packsIn(stream)).map(({ key }) => key)).toEqual([null, 20, null, 60, null, null])
  await expectStored(stream, blocks, 7)
})

it('few samples are rows of their own, many are several packs, and another protocol begins another one', async () => {
  const stream = await newStream()
  const many = Array.from({ length: PACK_UP_TO + PACK_FROM }, (_, n) => sample(n, { totalAssets: 2n }))
  const few = many.slice(1, PACK_FROM)
  const ofAnother = many.slice(0, PACK_FROM).map(event => ({ ...event, protocol: 'another' }))
  const blocks = [blockOf(1, few), blockOf(2, many), blockOf(3, [...ofAnother, ...many.slice(0, PACK_FROM)])]
  await append(stream, blocks)
  expect((await packsIn(stream)).map(({ count }) => count)).toEqual([
    PACK_UP_TO,
    PACK_FROM,
    PACK_FROM,
    PACK_FROM,
  ])
  await expectStored(stream, blocks, 500)
})

it('samples of activity are found among those of the hour, and no pack is taken for an event of the vocabulary', async () => {
  const stream = await newStream()
  const blocks = [
    blockOf(1, [
      ...Array.from({ length: 20 }, (_, n) => sample(n, { totalAssets: 1n })),
      sample(50, { totalAssets: 1n }, 'activity'),
    ]),
  ]
  await append(stream, blocks)
  expect(await packsIn(stream)).toHaveLength(1)
  const { rows } = await store.pool.query(
    `SELECT position, data->>'vault' AS vault FROM stored_events($1, 0, 100) WHERE data->>'reason' <> 'hourly'`,
    [stream],
  )
  expect(rows).toEqual([{ position: 21, vault: address(50) }])
  expect(Object.hasOwn(vocabulary, 'Packed')).toBe(false)
})
