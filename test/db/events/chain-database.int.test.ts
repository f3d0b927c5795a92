import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ChainDatabase } from '../../../db/events/chain-database.ts'
import { ForkedWhileOfflineError, SecondWriterError, StoppedError } from '../../../db/events/chain-errors.ts'
import { readEvents } from '../../../db/events/event-store.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'

const STREAM = 8453
const vault = `0x${'ab'.repeat(20)}`

function hash(height: number, branch = ''): string {
  return `0x${Buffer.from(`${branch}${height}`).toString('hex').padStart(64, '0')}`
}

function block(height: number, branch = '') {
  return { height, hash: hash(height, branch) }
}

function transfer(logIndex: number, shares = 1n): DomainEvent {
  return {
    type: 'ShareTransferred',
    contract: vault,
    logIndex,
    transactionHash: hash(logIndex),
    data: { from: `0x${'00'.repeat(20)}`, to: vault, shares },
  }
}

let postgres: TestPostgres
let database: ChainDatabase

beforeEach(async () => {
  postgres = await createPostgres()
  database = new ChainDatabase({ pool: postgres.pool, stream: STREAM, name: 'base' })
  await database.connect()
})

afterEach(async () => {
  await database.close()
  await postgres.drop()
})

/** Stores blocks as the head of the chain: each with one event that carries its height as amount. */
function storeHot(
  base: { height: number; hash: string },
  blocks: { height: number; hash: string }[],
  final = base,
) {
  return database.transactHot2(
    { finalizedHead: final, baseHead: base, newBlocks: blocks },
    async (store, from, to) => {
      store.append(
        blocks.slice(from, to).map(({ height, hash }) => ({
          block: { number: height, hash, timestamp: height },
          events: [transfer(0, BigInt(height))],
        })),
      )
    },
  )
}

async function start(): Promise<void> {
  await database.transact(
    { prevHead: { height: -1, hash: '0x' }, nextHead: block(10), isOnTop: true },
    async store => {
      store.append([
        {
          block: { number: 10, hash: hash(10), timestamp: 10 },
          events: [transfer(0, 10n), transfer(1, 10n)],
        },
      ])
      store.setHeadTime(10)
    },
  )
}

async function stored() {
  const events = await readEvents(postgres.pool, STREAM, { after: 0 })
  return events.map(event => [event.position, event.type, event.block_number] as const)
}

describe('append-only', () => {
  test('update, delete and truncate are refused by Postgres itself, also to the owner and on the partition', async () => {
    await start()
    for (const statement of [
      `UPDATE event_log SET block_number = 0`,
      `DELETE FROM event_log`,
      `TRUNCATE event_log`,
      `TRUNCATE event_log_${STREAM}`,
      `DELETE FROM event_log_${STREAM}`,
      `TRUNCATE event_log, stream CASCADE`,
    ]) {
      await expect(postgres.pool.query(statement), statement).rejects.toThrow(/append-only/)
    }
    expect(await stored()).toHaveLength(2)
  })

  test('the role that appends is not granted more than that', async () => {
    const client = await postgres.pool.connect()
    try {
      await client.query('SET ROLE vaultlog_writer')
      for (const statement of [
        'UPDATE event_log SET block_number = 0',
        'DELETE FROM event_log',
        'TRUNCATE event_log',
      ]) {
        await expect(client.query(statement), statement).rejects.toThrow(/permission denied/)
      }
    } finally {
      await client.query('RESET ROLE')
      client.release()
    }
  })
})

describe('streams', () => {
  test('positions are dense and the cursor moves with the events', async () => {
    await start()
    await storeHot(block(10), [block(11), block(12)])
    expect((await stored()).map(([position]) => position)).toEqual([1, 2, 3, 4])
    await database.close()
    await expect(database.connect()).rejects.toThrow(StoppedError)
    database = new ChainDatabase({ pool: postgres.pool, stream: STREAM, name: 'base' })
    expect(await database.connect()).toEqual({ ...block(10), position: 4, top: [block(11), block(12)] })
  })

  test('closed while it connects, it leaves no lock behind', async () => {
    const other = new ChainDatabase({ pool: postgres.pool, stream: STREAM, name: 'base' })
    await database.close()
    const connecting = other.connect()
    await other.close()
    await expect(connecting).rejects.toThrow(StoppedError)
    database = new ChainDatabase({ pool: postgres.pool, stream: STREAM, name: 'base' })
    await database.connect()
  })

  test('a handler that throws leaves neither events nor a moved cursor', async () => {
    await start()
    const before = await database.connect()
    await expect(
      database.transactHot2(
        { finalizedHead: block(10), baseHead: block(10), newBlocks: [block(11)] },
        async store => {
          store.append([{ block: { number: 11, hash: hash(11), timestamp: 11 }, events: [transfer(0)] }])
          throw new TypeError('handler')
        },
      ),
    ).rejects.toThrow('handler')
    expect(await stored()).toHaveLength(2)
    expect(await database.connect()).toEqual(before)
  })

  test('an integer of 256 bits and text with NUL and quotes come back as they went in', async () => {
    const symbol = 'MKR\0\0\\N "q"\t'
    await database.transact(
      { prevHead: { height: -1, hash: '0x' }, nextHead: block(1), isOnTop: true },
      async store => {
        store.append([
          {
            block: { number: 1, hash: hash(1), timestamp: 1 },
            events: [
              transfer(0xffffffe2, 2n ** 256n - 1n),
              { type: 'VaultRejected', contract: vault, data: { vault, reason: symbol } },
            ],
          },
        ])
      },
    )
    const [first, second] = await readEvents(postgres.pool, STREAM, { after: 0 })
    expect(first?.data['shares']).toBe((2n ** 256n - 1n).toString())
    expect(first?.log_index).toBe(0xffffffe2)
    expect(second?.data['reason']).toBe(symbol.replaceAll('\0', ''))
  })

  test('a second processor of the same chain is refused', async () => {
    const second = new ChainDatabase({ pool: postgres.pool, stream: STREAM, name: 'base' })
    await expect(second.connect()).rejects.toThrow(SecondWriterError)
  })
})

describe('forks', () => {
  test.each([1, 3, 12])(
    '%i deep: retractions from the top down and the new branch, in one transaction',
    async depth => {
      await start()
      const old = Array.from({ length: 12 }, (_, i) => block(11 + i))
      await storeHot(block(10), old)
      const base = 22 - depth
      const fresh = Array.from({ length: depth + 1 }, (_, i) => block(base + 1 + i, 'b'))
      await storeHot(base === 10 ? block(10) : block(base), fresh, block(10))

      const events = await readEvents(postgres.pool, STREAM, { after: 14 })
      const retracted = events.filter(event => event.type === 'BlockRetracted')
      expect(retracted.map(event => event.data['blockNumber'])).toEqual(
        Array.from({ length: depth }, (_, i) => 22 - i),
      )
      expect(retracted.map(event => [event.data['fromPosition'], event.data['toPosition']])).toEqual(
        Array.from({ length: depth }, (_, i) => [14 - i, 14 - i]),
      )
      expect(events.slice(depth).map(event => event.block_hash)).toEqual(fresh.map(({ hash }) => hash))
      const state = await database.connect().finally(() => database.close())
      expect(state.top.map(({ hash }) => hash)).toEqual(
        [...old.slice(0, 12 - depth), ...fresh].map(({ hash }) => hash),
      )
    },
  )

  test('a block without events leaves nothing to retract', async () => {
    await start()
    await database.transactHot2(
      { finalizedHead: block(10), baseHead: block(10), newBlocks: [block(11)] },
      async () => {},
    )
    await storeHot(block(10), [block(11, 'b')])
    expect((await stored()).map(([, type]) => type)).toEqual([
      'ShareTransferred',
      'ShareTransferred',
      'ShareTransferred',
    ])
  })

  test('a hot block stored as empty gets events by a contract discovered in the next block, and loses them with it', async () => {
    await start()
    const stamped = (height: number) => ({ number: height, hash: hash(height), timestamp: height })
    await database.transactHot2(
      { finalizedHead: block(10), baseHead: block(10), newBlocks: [block(11)] },
      async () => {},
    )
    await database.transactHot2(
      { finalizedHead: block(10), baseHead: block(11), newBlocks: [block(12)] },
      async store => {
        store.append([
          { block: stamped(11), events: [transfer(0), transfer(1)] },
          { block: stamped(12), events: [transfer(0)] },
        ])
      },
    )
    expect((await database.connect()).top).toEqual([block(11), block(12)])
    await storeHot(block(10), [block(11, 'b')])
    const events = await readEvents(postgres.pool, STREAM, { after: 5 })
    expect(events.map(({ type, data }) => [type, data['fromPosition'], data['toPosition']])).toEqual([
      ['BlockRetracted', 5, 5],
      ['BlockRetracted', 3, 4],
      ['ShareTransferred', undefined, undefined],
    ])
  })

  test('the head that a source brings again after a start is no fork', async () => {
    await start()
    await storeHot(block(10), [block(11), block(12)])
    await storeHot(block(11), [block(12), block(13)], block(10))
    expect((await stored()).map(([, type, height]) => [type, height]).slice(2)).toEqual([
      ['ShareTransferred', 11],
      ['ShareTransferred', 12],
      ['ShareTransferred', 13],
    ])
  })

  test('a hot block that became final while stopped is not stored twice', async () => {
    await start()
    await storeHot(block(10), [block(11), block(12)])
    await database.transact({ prevHead: block(10), nextHead: block(13), isOnTop: true }, async store => {
      expect(store.isStored(11, hash(11))).toBe(true)
      store.append(
        [11, 12, 13]
          .filter(height => !store.isStored(height, hash(height)))
          .map(height => ({
            block: { number: height, hash: hash(height), timestamp: height },
            events: [transfer(0)],
          })),
      )
    })
    expect((await stored()).map(([, , height]) => height)).toEqual([10, 10, 11, 12, 13])
  })

  test('hot blocks replaced while stopped are retracted, and the batch is asked for again', async () => {
    await start()
    await storeHot(block(10), [block(11), block(12)])
    await database.close()
    const told: unknown[] = []
    database = new ChainDatabase({
      pool: postgres.pool,
      stream: STREAM,
      name: 'base',
      onCommit({ appended, retracted, isDiscarded = false }) {
        told.push({ appended, retracted, isDiscarded })
      },
    })
    await database.connect()
    const attempt = () =>
      database.transact({ prevHead: block(10), nextHead: block(13, 'b'), isOnTop: true }, async store => {
        store.append(
          [11, 12, 13].map(height => ({
            block: { number: height, hash: hash(height, 'b'), timestamp: height },
            events: [transfer(0)],
          })),
        )
      })
    await expect(attempt()).rejects.toThrow(ForkedWhileOfflineError)
    await attempt()
    expect((await stored()).map(([, type, height]) => [type === 'BlockRetracted', height])).toEqual([
      [false, 10],
      [false, 10],
      [false, 11],
      [false, 12],
      [true, 12],
      [true, 11],
      [false, 11],
      [false, 12],
      [false, 13],
    ])
    // Of what was not stored nothing may be kept in mind.
    expect(told).toEqual([
      { appended: 0, retracted: 2, isDiscarded: true },
      { appended: 3, retracted: 0, isDiscarded: false },
    ])
  })
})
