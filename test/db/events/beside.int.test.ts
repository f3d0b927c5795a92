import type pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChainDatabase, type Committed } from '../../../db/events/chain-database.ts'
import { CursorMovedError } from '../../../db/events/chain-errors.ts'
import { type BlockEvents, readEvents } from '../../../db/events/event-store.ts'
import type { EventWriter } from '../../../db/events/event-writer.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'
import { transactions } from './transactions.ts'

/** Final blocks that are stored while the next ones are handled. */

const STREAM = 8453
const hash = (height: number) => `0x${height.toString(16).padStart(64, '0')}`
const block = (height: number) => ({ height, hash: height < 0 ? '0x' : hash(height) })

let postgres: TestPostgres
let database: ChainDatabase
let committed: Committed[]
let mayGoOn: boolean

beforeEach(async () => {
  postgres = await createPostgres()
  committed = []
  mayGoOn = true
  database = new ChainDatabase({
    pool: postgres.pool,
    stream: STREAM,
    name: 'base',
    onHandled: () => mayGoOn,
    onCommit: told => void committed.push(told),
  })
  await database.connect()
})

afterEach(async () => {
  await database.close()
  await postgres.drop()
})

const eventsOf = (height: number): BlockEvents => ({
  block: { number: height, hash: hash(height), timestamp: height },
  events: [
    {
      type: 'ShareTransferred',
      contract: `0x${'ab'.repeat(20)}`,
      logIndex: 0,
      transactionHash: hash(height),
      data: { from: `0x${'00'.repeat(20)}`, to: `0x${'ab'.repeat(20)}`, shares: BigInt(height) },
    },
  ],
})
const append = (store: EventWriter, height: number) => store.append([eventsOf(height)])

function appendAmidFailure(store: EventWriter, height: number): void {
  append(store, height)
  store.waitFor(Promise.reject(new TypeError('the node is gone')))
}

/** Stores a final block. */
const store = (height: number, handle = (writer: EventWriter) => append(writer, height)) =>
  database.transact({ prevHead: block(height - 1), nextHead: block(height), isOnTop: true }, async writer =>
    handle(writer),
  )

const stored = async () =>
  (await readEvents(postgres.pool, STREAM, { after: 0 })).map(({ position, block_number }) => [
    position,
    block_number,
  ])

/** Nothing is stored of the stream until it is let go. */
async function hold(meanwhile?: (client: pg.PoolClient) => Promise<unknown>): Promise<() => Promise<void>> {
  const client = await postgres.pool.connect()
  await client.query('BEGIN')
  await client.query('SELECT FROM stream WHERE id = $1 FOR UPDATE', [STREAM])
  await meanwhile?.(client)
  return async () => {
    await client.query('COMMIT')
    client.release()
  }
}

const upTo = (last: number) => Array.from({ length: last + 1 }, (_, i) => [i + 1, i])

test('the next batch is handled before this one is stored, and they are stored in their order', async () => {
  const letGo = await hold()
  await store(0)
  let isHandled = false
  const second = store(1, writer => {
    isHandled = true
    append(writer, 1)
  })
  await expect.poll(() => isHandled, { timeout: 30_000 }).toBe(true)
  expect([await stored(), committed.length]).toEqual([[], 0])
  await letGo()
  await second
  await store(2)
  await database.settled()
  expect(await stored()).toEqual(upTo(2))
  expect(committed.map(({ head, headBlock, isAlone }) => [head, headBlock, isAlone])).toEqual([
    [1, 0, false],
    [2, 1, false],
    [3, 2, false],
  ])
  const { rows } = await postgres.pool.query('SELECT head, final_height FROM stream WHERE id = $1', [STREAM])
  expect(rows).toEqual([{ head: 3, final_height: 2 }])
})

test('a batch behind which nothing may go on is stored before it returns', async () => {
  mayGoOn = false
  await store(0)
  expect(await stored()).toEqual(upTo(0))
  expect(committed.map(({ isAlone }) => isAlone)).toEqual([true])
})

test('what went wrong is told by what comes next, which stores nothing', async () => {
  await store(0)
  await database.settled()
  const letGo = await hold(client =>
    client.query(`UPDATE stream SET final_hash = '0xother' WHERE id = $1`, [STREAM]),
  )
  await store(1)
  await letGo()
  await expect(store(2)).rejects.toThrow(CursorMovedError)
  await expect(database.settled()).rejects.toThrow(CursorMovedError)
  expect(await stored()).toEqual(upTo(0))
  expect(committed).toHaveLength(1)
})

test('what a batch waits for may change it until it is stored, keeps no transaction open and lets the next one be handled', async () => {
  let end = () => {}
  const work = new Promise<void>(resolve => {
    end = resolve
  })
  const first = eventsOf(0)
  await store(0, writer => {
    writer.append([first])
    writer.waitFor(work)
  })
  let isHandled = false
  const second = store(1, writer => {
    isHandled = true
    append(writer, 1)
  })
  await expect.poll(() => isHandled, { timeout: 30_000 }).toBe(true)
  await (await hold())()
  expect(await transactions(postgres.pool)).toEqual([])
  expect(await stored()).toEqual([])
  first.events = first.events.map(event => ({ ...event, contract: `0x${'cd'.repeat(20)}` }))
  end()
  await second
  await database.settled()
  expect(await stored()).toEqual(upTo(1))
  const [changed] = await readEvents(postgres.pool, STREAM, { after: 0, limit: 1 })
  expect(changed?.contract).toBe(`0x${'cd'.repeat(20)}`)
})

test('a batch whose work fails is not stored, and nor is the next one', async () => {
  await store(0, writer => appendAmidFailure(writer, 0))
  await expect(store(1)).rejects.toThrow('the node is gone')
  expect([await stored(), committed.length]).toEqual([[], 0])
})

test('hot blocks wait for it before they return', async () => {
  const hot = database.transactHot2(
    { finalizedHead: block(-1), baseHead: block(-1), newBlocks: [block(0)] },
    async writer => appendAmidFailure(writer, 0),
  )
  await expect(hot).rejects.toThrow('the node is gone')
  expect(await stored()).toEqual([])
})

test('hot blocks, what is appended of the past, and an end wait until all is stored', async () => {
  const letGo = await hold()
  await store(0)
  const past = database.appendPast([], [], -1)
  const hot = database.transactHot2(
    { finalizedHead: block(0), baseHead: block(0), newBlocks: [block(1)] },
    async writer => append(writer, 1),
  )
  expect(await stored()).toEqual([])
  await letGo()
  await Promise.all([past, hot])
  expect(await stored()).toEqual(upTo(1))
  await database.transact({ prevHead: block(0), nextHead: block(2), isOnTop: true }, async writer => {
    writer.isStored(1, hash(1))
    append(writer, 2)
  })
  await database.close()
  expect(await stored()).toEqual(upTo(2))
})
