import { TypeormDatabase } from '@subsquid/typeorm-store'
import { DataSource, type EntityManager } from 'typeorm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ChainDatabase } from '../../../db/events/chain-database.ts'
import { registerStream } from '../../../db/events/event-store.ts'
import { rewindChain } from '../../../db/events/rewind.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'

const STREAM = 8453
const block = (height: number, branch = 0) => ({
  height,
  hash: `0x${(height + branch * 1000).toString(16).padStart(64, '0')}`,
})

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await createPostgres()
})
afterAll(() => postgres.drop())

const open = () => new ChainDatabase({ pool: postgres.pool, stream: STREAM, name: 'base' })

async function state() {
  const { rows: status } = await postgres.pool.query(`SELECT height, hash FROM processor_${STREAM}.status`)
  const { rows: hot } = await postgres.pool.query(
    `SELECT height, hash FROM processor_${STREAM}.hot_block ORDER BY height`,
  )
  const { rows: changes } = await postgres.pool.query(`SELECT * FROM processor_${STREAM}.hot_change_log`)
  return { final: status[0], hot, changes }
}

test('the library keeps cursor and hot blocks of a chain through forks and rewinds, and no change of a row', async () => {
  let database = open()
  await database.connect()
  const store = (base: ReturnType<typeof block>, blocks: ReturnType<typeof block>[], final = block(10)) =>
    database.transactHot2(
      { finalizedHead: final, baseHead: base, newBlocks: blocks },
      async (writer, from, to) =>
        writer.append(
          blocks.slice(from, to).map(({ height, hash }) => ({
            block: { number: height, hash, timestamp: height },
            events: [
              { type: 'VaultRejected', contract: hash.slice(0, 42), data: { vault: '0x', reason: '' } },
            ],
          })),
        ),
    )
  await database.transact(
    { prevHead: { height: -1, hash: '0x' }, nextHead: block(10), isOnTop: true },
    async () => {},
  )
  await store(block(10), [block(11), block(12), block(13)])
  expect(await state()).toEqual({ final: block(10), hot: [block(11), block(12), block(13)], changes: [] })
  await store(block(11), [block(12, 1), block(13, 1)], block(11))
  expect(await state()).toEqual({ final: block(11), hot: [block(12, 1), block(13, 1)], changes: [] })
  const { rows } = await postgres.pool.query<{ type: string }>(
    'SELECT type FROM event_log WHERE stream = $1 ORDER BY position OFFSET 3',
    [STREAM],
  )
  expect(rows.map(({ type }) => type)).toEqual([
    'BlockRetracted',
    'BlockRetracted',
    'VaultRejected',
    'VaultRejected',
  ])
  await database.close()

  await rewindChain(postgres.pool, STREAM, 'base', 12)
  database = open()
  expect(await database.connect()).toMatchObject({ ...block(11), top: [block(12, 1)] })
  expect(await state()).toEqual({ final: block(11), hot: [block(12, 1)], changes: [] })
  await store(block(12, 1), [block(13, 2)], block(11))
  await database.close()
})

test('the tables of the state are those that the library makes by itself', async () => {
  await registerStream(postgres.pool, STREAM, 'base', 'evm')
  const library = new TypeormDatabase({ stateSchema: 'made_by_library' }) as unknown as {
    con: DataSource
    initTransaction(em: EntityManager): Promise<unknown>
  }
  library.con = await new DataSource({ type: 'postgres', url: postgres.url }).initialize()
  await library.con.transaction(em => library.initTransaction(em))
  await library.con.destroy()
  const tablesOf = async (schema: string) => {
    const { rows } = await postgres.pool.query(
      `SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
       WHERE table_schema = $1 ORDER BY table_name, ordinal_position`,
      [schema],
    )
    const { rows: constraints } = await postgres.pool.query<{ is: string }>(
      `SELECT replace(pg_get_constraintdef(oid), $1, '') AS is FROM pg_constraint
       WHERE connamespace = $1::regnamespace AND contype <> 'n' ORDER BY 1`,
      [schema],
    )
    return [rows, constraints]
  }
  expect(await tablesOf(`processor_${STREAM}`)).toEqual(await tablesOf('made_by_library'))
})
