import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChainDatabase, type Committed } from '../../../db/events/chain-database.ts'
import { CursorMovedError, StoppedError } from '../../../db/events/chain-errors.ts'
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
/** What holds the stream, in the tests that failed meanwhile too. */
let holders: pg.PoolClient[]

beforeEach(async () => {
  postgres = await createPostgres()
  committed = []
  mayGoOn = true
  holders = []
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
  for (const client of holders) client.release(true)
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
const store = (
  height: number,
  handle: (writer: EventWriter) => void | Promise<void> = writer => append(writer, height),
) =>
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
  holders.push(client)
  await client.query('BEGIN')
  await client.query('SELECT FROM stream WHERE id = $1 FOR UPDATE', [STREAM])
  await meanwhile?.(client)
  return async () => {
    await client.query('COMMIT')
    holders.splice(holders.indexOf(client), 1)
    client.release()
  }
}

const upTo = (last: number) => Array.from({ length: last + 1 }, (_, i) => [i + 1, i])

test('batches are handled while others are stored, and are stored together and in their order', async () => {
  const letGo = await hold()
  await store(0)
  for (const height of [1, 2, 3]) await store(height)
  expect([await stored(), committed.length]).toEqual([[], 0])
  await letGo()
  await database.settled()
  await store(4)
  await database.settled()
  expect(await stored()).toEqual(upTo(4))
  expect(committed.map(({ head, headBlock, beside }) => [head, headBlock, beside])).toEqual([
    [1, 0, 1],
    [4, 3, 3],
    [5, 4, 1],
  ])
  const { rows } = await postgres.pool.query('SELECT head, final_height FROM stream WHERE id = $1', [STREAM])
  expect(rows).toEqual([{ head: 5, final_height: 4 }])
})

test('what each of them learned is stored, the newest where it is of the same', async () => {
  const contract = `0x${'ab'.repeat(20)}`
  const letGo = await hold()
  await store(0)
  for (const height of [1, 2, 3])
    await store(height, writer => {
      append(writer, height)
      writer.setHeadTime(height === 3 ? 0 : height * 12)
      writer.setSourceCursor({ kind: 'vault', contract, cursor: height })
      writer.setLogBudgets(
        height === 3 ? [] : [1, height + 1].map(day => ({ contract, day, logs: height })),
        height === 3 ? [{ contract, day: 3, logs: 2 }] : [],
      )
    })
  await letGo()
  await database.settled()
  expect(committed.map(({ beside }) => beside)).toEqual([1, 3])
  const read = async (sql: string) => (await postgres.pool.query(sql)).rows
  expect(await read('SELECT head_time::int, head_height::int FROM stream')).toEqual([
    { head_time: 24, head_height: 3 },
  ])
  expect(await read('SELECT contract, cursor::int FROM watched_source')).toEqual([{ contract, cursor: 3 }])
  expect(await read('SELECT day::int, logs::int FROM log_budget ORDER BY day')).toEqual([
    { day: 1, logs: 2 },
    { day: 2, logs: 1 },
  ])
})

test('a handler may wait for what was handled before it to be stored', async () => {
  const letGo = await hold()
  await store(0)
  const second = store(1, async writer => {
    await database.settled()
    expect(await stored()).toEqual(upTo(0))
    append(writer, 1)
  })
  await letGo()
  await second
  await database.settled()
  expect(await stored()).toEqual(upTo(1))
})

test('what is handled ahead of what is stored has an end', async () => {
  const letGo = await hold()
  let handled = 0
  const all = (async () => {
    for (let height = 0; height < 100; height++)
      await store(height, writer => {
        handled++
        append(writer, height)
      })
  })()
  const isWaiting = async () => {
    const before = handled
    await setTimeout(300)
    return before > 10 && before === handled
  }
  await expect.poll(isWaiting, { timeout: 30_000 }).toBe(true)
  expect(handled).toBeLessThan(50)
  await letGo()
  await all
  await database.settled()
  expect(await stored()).toEqual(upTo(99))
  expect(committed.reduce((sum, { beside }) => sum + beside, 0)).toBe(100)
})

test('it ends at ten thousand events as well', async () => {
  const letGo = await hold()
  await store(0)
  await store(1)
  const { block: at, events } = eventsOf(2)
  let isDone = false
  const last = store(2, writer =>
    writer.append([{ block: at, events: Array.from({ length: 10_000 }, () => events).flat() }]),
  ).then(() => {
    isDone = true
  })
  await setTimeout(500)
  expect(isDone).toBe(false)
  await letGo()
  await last
  await database.settled()
  expect(committed.map(({ head, beside }) => [head, beside])).toEqual([
    [1, 1],
    [10_002, 2],
  ])
})

test('a batch behind which nothing may go on is stored before it returns', async () => {
  mayGoOn = false
  await store(0)
  expect(await stored()).toEqual(upTo(0))
  expect(committed.map(({ beside }) => beside)).toEqual([0])
})

test('what went wrong is told by what comes next, which stores nothing', async () => {
  await store(0)
  await database.settled()
  const letGo = await hold(client =>
    client.query(`UPDATE stream SET final_hash = '0xother' WHERE id = $1`, [STREAM]),
  )
  await store(1)
  await store(2)
  await letGo()
  await expect(database.settled()).rejects.toThrow(CursorMovedError)
  await expect(store(3)).rejects.toThrow(CursorMovedError)
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
  await expect(store(1).then(() => database.settled())).rejects.toThrow('the node is gone')
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

test('an end waits for what waits to be stored', async () => {
  const letGo = await hold()
  for (const height of [0, 1, 2]) await store(height)
  const end = database.close()
  await letGo()
  await end
  expect(await stored()).toEqual(upTo(2))
  expect(await transactions(postgres.pool)).toEqual([])
})

test('what is still being handled at the end is not stored', async () => {
  let end: Promise<void> | undefined
  const last = store(0, writer => {
    end = database.close()
    append(writer, 0)
  })
  await expect(last).rejects.toThrow(StoppedError)
  await end
  expect(await stored()).toEqual([])
})
