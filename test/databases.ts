import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { type ClickHouse, openClickHouse } from '../db/clickhouse/client.ts'
import { dropClickHouse, identifier, migrateClickHouse } from '../db/clickhouse/migrate.ts'
import { migratePostgres, openPostgres } from '../db/postgres.ts'
import { freeDatabase, schemaOf, takeDatabase } from './clickhouse-databases.ts'
import { dropDatabase } from './drop-database.ts'

export interface TestPostgres {
  url: string
  pool: pg.Pool
  drop(): Promise<void>
}

/**
 * A migrated database of its own on the test run's Postgres, with all that is in another one that nobody is connected to, where
 * one is named; `drop` leaves nothing behind.
 */
export async function createPostgres(template?: TestPostgres): Promise<TestPostgres> {
  const server = inject('postgresUrl')
  const name = `vaultlog_test_${randomBytes(6).toString('hex')}`
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  const like = template ? ` TEMPLATE ${new URL(template.url).pathname.slice(1)}` : ''
  await admin.query(`CREATE DATABASE ${name}${like}`)
  await admin.end()
  const url = new URL(server)
  url.pathname = `/${name}`
  const pool = openPostgres(url.href, 'test', 8)
  if (!template) await migratePostgres(pool)
  return {
    url: url.href,
    pool,
    async drop() {
      if (!pool.ended) await pool.end()
      await dropDatabase(server, name)
    },
  }
}

export interface TestClickHouse {
  house: ClickHouse
  drop(): Promise<void>
}

/** A migrated database on the test run's ClickHouse that is nobody else's, with the rows of another one where one is named. */
export async function createClickHouse(template?: ClickHouse): Promise<TestClickHouse> {
  const folder = inject('freeDatabases')
  const free = await takeDatabase(folder)
  const database = free?.database ?? `vaultlog_test_${randomBytes(6).toString('hex')}`
  const house = openClickHouse({ url: inject('clickhouseUrl'), database })
  if (!free) await migrateClickHouse(house)
  const schema = free?.schema ?? (await schemaOf(house))
  if (template) await copyRows(template, house)
  return {
    house,
    async drop() {
      if (!(await freeDatabase(folder, house, schema))) await dropClickHouse(house)
      await house.close()
    },
  }
}

async function copyRows(from: ClickHouse, to: ClickHouse): Promise<void> {
  const tables = await from.query<{ name: string }>(
    'test',
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND total_rows > 0 AND name != 'migration'`,
  )
  const source = identifier(from.database)
  await Promise.all(
    tables.map(({ name }) =>
      to.command('test', `INSERT INTO ${identifier(name)} SELECT * FROM ${source}.${identifier(name)}`),
    ),
  )
}
