import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrateClickHouse } from '../../db/clickhouse/migrate.ts'
import { migratePostgres } from '../../db/postgres.ts'
import { ConfigError } from '../../db/process/errors.ts'
import { createClickHouse, createPostgres, type TestClickHouse, type TestPostgres } from '../databases.ts'

let postgres: TestPostgres
let clickhouse: TestClickHouse
let copies: string
beforeAll(async () => {
  copies = await mkdtemp(join(tmpdir(), 'vaultlog-migrations-'))
  postgres = await createPostgres()
  clickhouse = await createClickHouse()
})
afterAll(async () => {
  await clickhouse?.drop()
  await postgres?.drop()
  await rm(copies, { recursive: true, force: true })
})

/** A folder of migrations as somebody has it who has worked on them. */
async function copyOf(folder: string): Promise<string> {
  const copy = join(copies, folder)
  await cp(new URL(`../../${folder}`, import.meta.url), copy, { recursive: true })
  return copy
}
const asUrl = (folder: string) => pathToFileURL(`${folder}/`)

const edited = (name: string) =>
  new RegExp(
    `Migration ${name} is not what was applied to (Postgres|ClickHouse).*Put the file back, and write`,
  )

test('Postgres refuses a migration that was changed after it was applied, and does nothing else then', async () => {
  const folder = await copyOf('db/migrations')
  const { pool } = postgres
  expect(await migratePostgres(pool, asUrl(folder))).toEqual([])

  const file = join(folder, '0004_api.sql')
  const before = await readFile(file)
  await appendFile(file, '-- One word more.\n')
  await writeFile(join(folder, '9999_later.sql'), 'CREATE TABLE later (id integer)')
  const refused = migratePostgres(pool, asUrl(folder))
  await expect(refused).rejects.toBeInstanceOf(ConfigError)
  await expect(refused).rejects.toThrow(edited('0004_api.sql'))
  const later = () => pool.query("SELECT to_regclass('later') AS later").then(({ rows }) => rows[0].later)
  expect(await later()).toBeNull()

  await writeFile(file, before)
  expect(await migratePostgres(pool, asUrl(folder))).toEqual(['9999_later.sql'])
  expect(await later()).toBe('later')
  await writeFile(join(folder, '9999_later.sql'), 'CREATE TABLE later (id bigint)')
  await expect(migratePostgres(pool, asUrl(folder))).rejects.toThrow(edited('9999_later.sql'))
})

test('ClickHouse refuses a migration that was changed after it was applied, and does nothing else then', async () => {
  const folder = await copyOf('db/clickhouse/migrations')
  const { house } = clickhouse
  expect(await migrateClickHouse(house, { folder: asUrl(folder) })).toEqual([])

  const file = join(folder, '0006_flow.sql')
  const before = await readFile(file)
  await appendFile(file, '-- One word more.\n')
  await writeFile(join(folder, '9999_later.sql'), 'CREATE VIEW IF NOT EXISTS later AS SELECT 1 AS id;\n')
  const refused = migrateClickHouse(house, { folder: asUrl(folder) })
  await expect(refused).rejects.toBeInstanceOf(ConfigError)
  await expect(refused).rejects.toThrow(edited('0006_flow.sql'))
  await expect(refused).rejects.toThrow(`database ${house.database}: `)
  await expect(refused).rejects.toThrow('`vaultlog rebuild`')
  const later = () => house.query('test', 'EXISTS VIEW later').then(rows => rows[0])
  expect(await later()).toEqual({ result: 0 })

  await writeFile(file, before)
  expect(await migrateClickHouse(house, { folder: asUrl(folder) })).toEqual(['9999_later.sql'])
  expect(await later()).toEqual({ result: 1 })
  await writeFile(join(folder, '9999_later.sql'), 'CREATE VIEW IF NOT EXISTS later AS SELECT 2 AS id;\n')
  await expect(migrateClickHouse(house, { folder: asUrl(folder) })).rejects.toThrow(edited('9999_later.sql'))
})
