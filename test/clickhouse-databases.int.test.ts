import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import { freeDatabase, schemaOf, takeDatabase } from './clickhouse-databases.ts'
import { createClickHouse } from './databases.ts'

const put = (house: ClickHouse, table: string, token: string) =>
  house.command(
    'test',
    `INSERT INTO ${table} SELECT 1, 'v', toDate('2024-01-01'), number, 1, 1, 1, 1, 0 FROM numbers(3)
     SETTINGS insert_deduplication_token = '${token}'`,
  )

it('a database that is used again takes every insert, whatever was inserted, replaced and dropped before', async () => {
  const { house, drop } = await createClickHouse()
  const folder = await mkdtemp(join(tmpdir(), 'vaultlog-free-'))
  try {
    const schema = await schemaOf(house)
    await put(house, 'drawdown', 'first')
    await house.command('test', 'CREATE TABLE made AS drawdown')
    await put(house, 'made', 'second')
    await house.command('test', 'ALTER TABLE drawdown REPLACE PARTITION 1 FROM made')
    await house.command('test', 'DROP TABLE made SYNC')
    expect(await freeDatabase(folder, house, schema)).toBe(true)
    expect(await takeDatabase(folder)).toEqual({ database: house.database, schema })
    expect(await schemaOf(house)).toBe(schema)
    await put(house, 'drawdown', 'first')
    const [row] = await house.query<{ n: string }>('test', 'SELECT count() AS n FROM drawdown')
    expect(Number(row?.n)).toBe(3)
  } finally {
    await rm(folder, { recursive: true, force: true })
    await drop()
  }
})
