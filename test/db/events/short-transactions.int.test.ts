import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChainDatabase } from '../../../db/events/chain-database.ts'
import { CursorMovedError } from '../../../db/events/chain-errors.ts'
import { readEvents } from '../../../db/events/event-store.ts'
import type { EventWriter } from '../../../db/events/event-writer.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'
import { transactions } from './transactions.ts'

const STREAM = 8453
const vault = `0x${'ab'.repeat(20)}`
const block = (height: number) => ({ height, hash: `0x${height.toString(16).padStart(64, '0')}` })
const NOTHING = { height: -1, hash: '0x' }

let postgres: TestPostgres
let database: ChainDatabase
const open = () => new ChainDatabase({ pool: postgres.pool, stream: STREAM, name: 'base' })

beforeEach(async () => {
  postgres = await createPostgres()
  database = open()
  await database.connect()
})
/** Of handling under way: what fails must not wait for it. */
const ends: (() => void)[] = []
afterEach(async () => {
  for (const end of ends) end()
  await database.close()
  await postgres.drop()
})

function appendOne(store: EventWriter, height: number): void {
  const { number, ...ref } = { number: height, hash: block(height).hash, timestamp: height }
  store.append([
    {
      block: { number, ...ref },
      events: [{ type: 'VaultRejected', contract: vault, data: { vault, reason: `at ${height}` } }],
    },
  ])
}

/** Handling that goes on until it is told to end, as where a node is slow. */
function slowly(height: number) {
  let begun = () => {}
  let end = () => {}
  const hasBegun = new Promise<void>(resolve => {
    begun = resolve
  })
  const mayEnd = new Promise<void>(resolve => {
    end = resolve
  })
  const handle = async (store: EventWriter) => {
    appendOne(store, height)
    begun()
    await mayEnd
  }
  ends.push(() => end())
  return { handle, hasBegun, end: () => end() }
}

const positions = async () =>
  (await readEvents(postgres.pool, STREAM, { after: 0 })).map(({ position }) => position)

const kinds = {
  'of final blocks': (handle: (store: EventWriter) => Promise<void>) =>
    database.transact({ prevHead: NOTHING, nextHead: block(0), isOnTop: true }, handle),
  'above finality': (handle: (store: EventWriter) => Promise<void>) =>
    database.transactHot2({ finalizedHead: NOTHING, baseHead: NOTHING, newBlocks: [block(0)] }, handle),
}

test.each(Object.entries(kinds))(
  'no transaction is open while a batch %s is handled',
  async (_, transact) => {
    const slow = slowly(0)
    const done = transact(slow.handle)
    await slow.hasBegun
    expect(await transactions(postgres.pool)).toEqual([])
    // Nobody is kept waiting for the stream's row either.
    await postgres.pool.query('SELECT FROM stream WHERE id = $1 FOR UPDATE NOWAIT', [STREAM])
    slow.end()
    await done
    expect(await positions()).toEqual([1])
  },
)

test('events of the past wait for a batch that is being handled', async () => {
  const slow = slowly(0)
  const done = kinds['of final blocks'](slow.handle)
  await slow.hasBegun
  expect(await database.appendPast([], [], 0)).toBeUndefined()
  slow.end()
  await done
  expect(await database.appendPast([], [], 0)).toMatchObject({ head: 1 })
})

test.each(Object.entries(kinds))(
  'who lost the stream to another processor while handling a batch %s stores nothing of it',
  async (_, transact) => {
    const slow = slowly(0)
    const done = transact(slow.handle)
    await slow.hasBegun
    // The server ends the connection that holds the lock, and another processor takes the stream.
    await postgres.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = $1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [STREAM],
    )
    const other = open()
    await expect
      .poll(() =>
        other.connect().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    try {
      await other.transact({ prevHead: NOTHING, nextHead: block(2), isOnTop: true }, async store =>
        appendOne(store, 2),
      )
      slow.end()
      await expect(done).rejects.toThrow(/lock of base was lost|cursor of base moved/)
      expect(await positions()).toEqual([1])
    } finally {
      await other.close()
    }
  },
)

test.each([
  ['an event more', `UPDATE stream SET head = head + 1 WHERE id = ${STREAM}`],
  ['another final block', `UPDATE stream SET final_height = 0 WHERE id = ${STREAM}`],
  ['another block at its head', `INSERT INTO hot_block VALUES (${STREAM}, 1, '0xb', 1, 0)`],
])('a stream with %s than when the handling began is left alone', async (_, change) => {
  const slow = slowly(0)
  const done = kinds['above finality'](slow.handle)
  await slow.hasBegun
  await postgres.pool.query(change)
  slow.end()
  await expect(done).rejects.toThrow(CursorMovedError)
  expect(await positions()).toEqual([])
})
