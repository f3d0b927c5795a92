import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { type ClickHouse, openClickHouse } from '../db/clickhouse/client.ts'
import { dropClickHouse, migrateClickHouse } from '../db/clickhouse/migrate.ts'
import { migratePostgres, openPostgres } from '../db/postgres.ts'
import { freeDatabase, schemaOf, takeDatabase } from './clickhouse-databases.ts'
import { dropDatabase } from './drop-database.ts'

export interface TestPostgres {
  url: string
  pool: pg.Pool
  drop(): Promise<void>
}

/** A migrated database of its own on the test run's Postgres; `drop` leaves nothing behind. */
export async function createPostgres(): Promise<TestPostgres> {
  const server = inject('postgresUrl')
  const name = `vaultlog_test_${randomBytes(6).toString('hex')}`
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name}`)
  await admin.end()
  const url = new URL(server)
  url.pathname = `/${name}`
  const pool = openPostgres(url.href, 'test', 8)
  await migratePostgres(pool)
  return {
    url: url.href,
    pool,
    async drop() {
      await pool.end()
      await dropDatabase(server, name)
    },
  }
}

export interface TestClickHouse {
  house: ClickHouse
  drop(): Promise<void>
}

/** A migrated database on the test run's ClickHouse that is nobody else's. */
export async function createClickHouse(): Promise<TestClickHouse> {
  const folder = inject('freeDatabases')
  const free = await takeDatabase(folder)
  const database = free?.database ?? `vaultlog_test_${randomBytes(6).toString('hex')}`
  const house = openClickHouse({ url: inject('clickhouseUrl'), database })
  if (!free) await migrateClickHouse(house)
  const schema = free?.schema ?? (await schemaOf(house))
  return {
    house,
    async drop() {
      if (!(await freeDatabase(folder, house, schema))) await dropClickHouse(house)
      await house.close()
    },
  }
}
