import { afterAll, beforeAll, expect, test } from 'vitest'
import { ChainDatabase } from '../../../db/events/chain-database.ts'
import { type OlderSource, readOlderSources } from '../../../db/events/older-logs.ts'
import { rewindChain } from '../../../db/events/rewind.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'

const STREAM = 8453
const contract = (digit: string) => `0x${digit.repeat(40)}`

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await createPostgres()
})
afterAll(() => postgres?.drop())

test('a rewind leaves to the stream what is above it, and to the older logs what is below', async () => {
  const database = new ChainDatabase({ pool: postgres.pool, stream: STREAM, name: 'base' })
  await database.connect()
  const rows: [digit: string, cursor: number, to: number][] = [
    ['1', 99, 400],
    ['2', 300, 500],
    ['3', 499, 900],
    ['3', 99, 700],
    ['4', 200, 500],
    ['4', 150, 600],
    ['5', 500, 900],
    ['6', 800, 900],
  ]
  const nextHead = { height: 2_000, hash: `0x${'a'.repeat(64)}` }
  await database.transact({ prevHead: { height: -1, hash: '0x' }, nextHead, isOnTop: true }, async store => {
    for (const [digit, cursor, to] of rows)
      store.setOlderSource({ kind: 'vault', contract: contract(digit), cursor, to })
  })
  await database.close()
  await rewindChain(postgres.pool, STREAM, 'base', 500)
  const left = (await readOlderSources(postgres.pool, STREAM)).map(
    ({ contract: of, cursor, to }: OlderSource) => [of[2], cursor, to],
  )
  expect(left.sort()).toEqual([
    ['1', 99, 400],
    ['2', 300, 500],
    ['3', 99, 500],
    ['4', 150, 500],
  ])
})
