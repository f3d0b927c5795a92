import type pg from 'pg'
import { type ClickHouse, openClickHouse } from './clickhouse/client.ts'
import { migrateClickHouse } from './clickhouse/migrate.ts'
import { startEmbedded } from './embedded/up.ts'
import { migratePostgres, openPostgres } from './postgres.ts'
import type { Env } from './process/env.ts'

export interface Stores {
  env: Env & { DATABASE_URL: string; CLICKHOUSE_URL: string }
  pool: pg.Pool
  clickhouse: ClickHouse
  close(): Promise<void>
}

/**
 * Both databases, migrated. Those without a URL in the environment are started embedded for as long as this process
 * lives, or joined where they run already.
 */
export async function openStores(env: Env, name: string, connections = 8): Promise<Stores> {
  const embedded = await startEmbedded(env)
  const pool = openPostgres(embedded.databaseUrl, name, connections)
  const clickhouse = openClickHouse({
    url: embedded.clickhouseUrl,
    database: env.CLICKHOUSE_DATABASE,
    cluster: env.CLICKHOUSE_CLUSTER,
  })
  const close = async () => {
    await clickhouse.close()
    await pool.end()
    await embedded.stop()
  }
  try {
    await migratePostgres(pool)
    await migrateClickHouse(clickhouse)
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
  return {
    env: { ...env, DATABASE_URL: embedded.databaseUrl, CLICKHOUSE_URL: embedded.clickhouseUrl },
    pool,
    clickhouse,
    close,
  }
}
