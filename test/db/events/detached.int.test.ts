import { afterEach, beforeEach, expect, it } from 'vitest'
import { ChainDatabase } from '../../../db/events/chain-database.ts'
import { readEvents } from '../../../db/events/event-store.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'
import { appendBlocks } from '../../read-api/append.ts'

/** A chain's events can be taken out of the event store and put back, while the others go on. */

let store: TestPostgres
beforeEach(async () => {
  store = await createPostgres()
})
afterEach(() => store.drop())

const block = (number: number) => {
  const hash = `0x${number.toString(16).padStart(64, '0')}`
  const vault = `0x${'ab'.repeat(20)}`
  const data = { from: vault, to: vault, shares: BigInt(number) }
  const event = {
    type: 'ShareTransferred' as const,
    contract: vault,
    logIndex: 0,
    transactionHash: hash,
    data,
  }
  return { block: { number, hash, timestamp: 1_700_000_000 + number }, events: [event] }
}

async function connect(stream: number, name: string): Promise<void> {
  const database = new ChainDatabase({ pool: store.pool, stream, name })
  await database.connect().finally(() => database.close())
}

it('a chain that is detached is whole when it is attached again, and nothing of it is written meanwhile', async () => {
  const { pool } = store
  await appendBlocks(pool, 1, 'mainnet', [block(1), block(2)])
  await appendBlocks(pool, 10, 'optimism', [block(1), block(2), block(3)])
  const before = await readEvents(pool, 10, { after: 0 })
  expect(before.length).toBe(3)

  await pool.query('ALTER TABLE event_log DETACH PARTITION event_log_10 CONCURRENTLY')
  await appendBlocks(pool, 1, 'mainnet', [block(3)])
  expect((await readEvents(pool, 1, { after: 0 })).length).toBe(3)
  await connect(1, 'mainnet')
  const say = 'ATTACH PARTITION event_log_10 FOR VALUES IN (10)'
  await expect(connect(10, 'optimism')).rejects.toMatchObject({
    code: 'DETACHED',
    message: expect.stringContaining(say),
  })
  await expect(appendBlocks(pool, 10, 'optimism', [block(4)])).rejects.toThrow(say)
  // Where it lies it is as it was: dumped, moved, or held by a server of its own.
  expect((await pool.query('SELECT FROM event_log_10')).rowCount).toBe(3)

  await pool.query(`ALTER TABLE event_log ${say}`)
  expect(await readEvents(pool, 10, { after: 0 })).toEqual(before)
  await connect(10, 'optimism')
  await appendBlocks(pool, 10, 'optimism', [block(4)])
  expect((await readEvents(pool, 10, { after: 0 })).map(({ position }) => position)).toEqual([1, 2, 3, 4])
  for (const change of [
    'DELETE FROM event_log',
    'TRUNCATE event_log_10',
    `UPDATE event_log_10 SET type = ''`,
  ])
    await expect(pool.query(change)).rejects.toThrow('append-only')
})
