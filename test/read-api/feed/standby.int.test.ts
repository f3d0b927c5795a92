import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migratePostgres, openPostgres } from '../../../db/postgres.ts'
import { Feed, PAGE } from '../../../read-api/feed/feed.ts'
import { serveGraphql } from '../../db/graphql-server.ts'
import { type Pair, startPair } from '../../db/standby.ts'
import { appendBlocks } from '../append.ts'

/** The past is read where DATABASE_READ_URL leads, as far as that has come, and where events are written otherwise. */

let pair: Pair
let pool: pg.Pool
let standby: pg.Pool

beforeAll(async () => {
  pair = await startPair()
  pool = openPostgres(pair.url, 'test')
  await migratePostgres(pool)
  standby = openPostgres(pair.standbyUrl, 'test-standby', 4, 5_000)
})
afterAll(async () => {
  await standby.end()
  await pool.end()
  await pair.close()
})

const blocks = (from: number, count: number, each: number) =>
  Array.from({ length: count }, (_, i) => {
    const number = from + i
    const hash = `0x${number.toString(16).padStart(64, '0')}`
    const events = Array.from({ length: each }, (_, logIndex) => ({
      type: 'ShareTransferred' as const,
      protocol: 'erc-4626' as const,
      contract: `0x${'a0'.repeat(20)}`,
      logIndex,
      transactionHash: hash,
      data: { from: `0x${'b0'.repeat(20)}`, to: `0x${'b1'.repeat(20)}`, shares: BigInt(number) },
    }))
    return { block: { number, hash, timestamp: 1_700_000_000 + number }, events }
  })

/** All there is of a chain, and how many statements that read events each server was asked; `tried`: all that the standby was. */
async function readAll(mode: 'instant' | 'finalized' = 'instant') {
  const asked = { primary: 0, standby: 0 }
  let tried = 0
  const counting = (which: keyof typeof asked, of: pg.Pool) =>
    new Proxy(of, {
      get(target, name) {
        const value = Reflect.get(target, name, target)
        if (name !== 'query') return typeof value === 'function' ? value.bind(target) : value
        return (text: string, ...rest: unknown[]) => {
          if (/\b(event_log|stored_events)\b/.test(text)) asked[which]++
          if (which === 'standby') tried++
          return Reflect.apply(value, target, [text, ...rest])
        }
      },
    })
  const feed = new Feed(counting('primary', pool), counting('standby', standby))
  const head = (await feed.look()).get(1)?.head ?? 0
  const positions: number[] = []
  for (let after = 0; after < head; ) {
    const { messages, last } = await feed.read(1, after, head, mode)
    positions.push(...messages.map(({ position }) => position))
    after = last.position
  }
  return { positions, head, asked, tried }
}

const upTo = (head: number) => Array.from({ length: head }, (_, i) => i + 1)

it('pages of the past come from the standby, and what it does not have yet from where it is written', async () => {
  await appendBlocks(pool, 1, 'mainnet', blocks(1, 10, PAGE / 4))
  await pair.caughtUp()
  const whole = await readAll()
  expect(whole.positions).toEqual(upTo((10 * PAGE) / 4))
  expect(whole.asked).toEqual({ primary: 0, standby: 3 })

  await pair.pause()
  await appendBlocks(pool, 1, 'mainnet', blocks(11, 10, PAGE / 4))
  const behind = await readAll()
  expect(behind.positions).toEqual(upTo((20 * PAGE) / 4))
  // Two pages are whole there; the one in the middle is half written.
  expect(behind.asked).toEqual({ primary: 3, standby: 2 })
  await pair.resume()
  await pair.caughtUp()
  const again = await readAll('finalized')
  expect(again.positions).toEqual(behind.positions)
  expect(again.asked.primary).toBe(0)
})

it('GraphQL reads there as well, whose transactions a standby refuses as they are', async () => {
  const server = await serveGraphql({ DATABASE_URL: pair.url, DATABASE_READ_URL: pair.graphqlUrl })
  try {
    const newest = async () => {
      const query = '{ events(where: {stream_eq: 1}, orderBy: position_DESC, limit: 1) { position } }'
      const { data } = (await (await server.ask(query)).json()) as {
        data: { events: { position: string }[] }
      }
      return Number(data.events[0]?.position)
    }
    const { head } = await readAll()
    expect(await newest()).toBe(head)
    await pair.pause()
    await appendBlocks(pool, 1, 'mainnet', blocks(21, 1, 1))
    expect(await newest()).toBe(head)
    await pair.resume()
  } finally {
    await server.stop()
  }
})

it('one that was promoted is not asked for events: it has a life of its own', async () => {
  await pair.caughtUp()
  await pair.promote()
  const { positions, head, asked } = await readAll()
  expect(positions).toEqual(upTo(head))
  expect(asked.standby).toBe(0)
})

it('without the standby nothing is missing', async () => {
  await pair.kill()
  const { positions, head, asked, tried } = await readAll()
  expect(positions).toEqual(upTo(head))
  expect(asked.primary).toBeGreaterThan(3)
  // With the first page; it is left alone for a while then.
  expect(tried).toBe(1)
})
