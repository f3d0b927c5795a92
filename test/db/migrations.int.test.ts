import { randomBytes } from 'node:crypto'
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type ClickHouse, openClickHouse } from '../../db/clickhouse/client.ts'
import { dropClickHouse, internalOf, migrateClickHouse, tablesOfSchema } from '../../db/clickhouse/migrate.ts'
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

/** All that a database and that of its views are made of, under a name that they share. */
async function definitionsOf(house: ClickHouse): Promise<string[]> {
  const rows = await house.query<{ sql: string }>(
    'test',
    `SELECT create_table_query AS sql FROM system.tables
    WHERE database IN ({database:String}, {internal:String}) ORDER BY database, name`,
    { database: house.database, internal: internalOf(house.database) },
  )
  return rows.map(({ sql }) => sql.replaceAll(house.database, 'same'))
}

async function inNewDatabase(work: (house: ClickHouse) => Promise<void>): Promise<void> {
  const database = `vaultlog_test_${randomBytes(6).toString('hex')}`
  const house = openClickHouse({ url: inject('clickhouseUrl'), database })
  try {
    await work(house)
  } finally {
    await dropClickHouse(house)
    await house.close()
  }
}

test('a ClickHouse database that came file by file, and one that was broken off, are as one that was made at once', async () => {
  let whole: string[] = []
  await inNewDatabase(async house => {
    await migrateClickHouse(house)
    whole = await definitionsOf(house)
    // And the table of migrations.
    expect(whole.length).toBe(new Set(await tablesOfSchema()).size + 1)
  })
  const all = fileURLToPath(new URL('../../db/clickhouse/migrations', import.meta.url))
  const files = (await readdir(all)).sort()
  const growing = join(copies, 'growing')
  await mkdir(growing)
  await inNewDatabase(async house => {
    for (const file of files) {
      await cp(join(all, file), join(growing, file))
      expect(await migrateClickHouse(house, { folder: asUrl(growing) })).toEqual([file])
    }
    expect(await definitionsOf(house)).toEqual(whole)
  })
  await inNewDatabase(async house => {
    let left = 150
    const breaking: ClickHouse = {
      ...house,
      async command(...statement) {
        if (left-- === 0) throw new TypeError('the machine went down')
        await house.command(...statement)
      },
    }
    await expect(migrateClickHouse(breaking)).rejects.toThrow('went down')
    expect(await definitionsOf(house)).not.toEqual(whole)
    expect(await migrateClickHouse(house)).toEqual(files)
    expect(await definitionsOf(house)).toEqual(whole)
  })
})
