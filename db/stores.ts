import pg from 'pg'
import { type ClickHouse, openClickHouse } from './clickhouse/client.ts'
import { migrateClickHouse } from './clickhouse/migrate.ts'
import { startPostgres } from './embedded/postgres.ts'
import { startEmbedded } from './embedded/up.ts'
import { migratePostgres, openPostgres } from './postgres.ts'
import type { Env } from './process/env.ts'
import { ConfigError, UnavailableError, type VaultlogError } from './process/errors.ts'

export interface EventStore {
  env: Env & { DATABASE_URL: string }
  pool: pg.Pool
  close(): Promise<void>
}

export interface Stores extends EventStore {
  env: Env & { DATABASE_URL: string; CLICKHOUSE_URL: string }
  clickhouse: ClickHouse
  /** Files of migrations that opening applied. */
  migrated: { postgres: string[]; clickhouse: string[] }
}

/** A database that has not answered by then is taken for gone. */
const PATIENCE_MS = 15_000

/**
 * Both databases, migrated. Those without a URL in the environment are started embedded for as long as this process
 * lives, or joined where they run already.
 *
 * @throws UnavailableError, ConfigError with the database and the setting, soon
 */
export async function openStores(
  env: Env,
  name: string,
  connections = 8,
  patienceMs = PATIENCE_MS,
): Promise<Stores> {
  const embedded = await startEmbedded(env)
  const clickhouse = openClickHouse({
    url: embedded.clickhouseUrl,
    database: env.CLICKHOUSE_DATABASE,
    cluster: env.CLICKHOUSE_CLUSTER,
  })
  const closeRest = async () => {
    await clickhouse.close()
    await embedded.stop()
  }
  try {
    await reachClickHouse(embedded.clickhouseUrl, patienceMs)
    const { pool, applied, close } = await openPool(embedded.databaseUrl, name, connections, patienceMs)
    const migrated = { postgres: applied, clickhouse: [] as string[] }
    try {
      migrated.clickhouse = await migrateClickHouse(clickhouse)
    } catch (error) {
      await close().catch(() => {})
      throw error
    }
    return {
      env: { ...env, DATABASE_URL: embedded.databaseUrl, CLICKHOUSE_URL: embedded.clickhouseUrl },
      pool,
      clickhouse,
      migrated,
      close: async () => {
        await close()
        await closeRest()
      },
    }
  } catch (error) {
    await closeRest().catch(() => {})
    throw error
  }
}

/** The event store alone, for what asks no read model: migrated, started or joined in the same way. */
export async function openEventStore(
  env: Env,
  name: string,
  connections = 8,
  patienceMs = PATIENCE_MS,
): Promise<EventStore> {
  const embedded = env.DATABASE_URL ? undefined : await startPostgres(env)
  const url = env.DATABASE_URL ?? embedded?.url ?? ''
  try {
    const { pool, close } = await openPool(url, name, connections, patienceMs)
    return {
      env: {
        ...env,
        DATABASE_URL: url,
        GRAPHQL_DATABASE_URL: env.GRAPHQL_DATABASE_URL ?? embedded?.graphqlUrl,
      },
      pool,
      close: async () => {
        await close()
        await embedded?.stop()
      },
    }
  } catch (error) {
    await embedded?.stop().catch(() => {})
    throw error
  }
}

async function openPool(
  url: string,
  name: string,
  connections: number,
  patienceMs: number,
): Promise<{ pool: pg.Pool; applied: string[]; close(): Promise<void> }> {
  await reachPostgres(url, patienceMs)
  const pool = openPostgres(url, name, connections)
  try {
    return { pool, applied: await migratePostgres(pool), close: () => pool.end() }
  } catch (error) {
    await pool.end().catch(() => {})
    if ((error as { code?: string }).code === INSUFFICIENT_PRIVILEGE)
      throw new ConfigError(
        `The user of DATABASE_URL may not make Vaultlog's tables: ${(error as Error).message}. Give it CREATE on the database and on its schema public, or a database of its own.`,
        { cause: error },
      )
    throw error
  }
}

/** SQLSTATE of Postgres. */
const INSUFFICIENT_PRIVILEGE = '42501'

/** Migrations may take long, and a pool waits for ever: whether anybody is there is asked before, with a limit. */
async function reachPostgres(url: string, patienceMs: number): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT 1')
  } catch (error) {
    // What it refuses to let in or does not have is not there later either.
    const isRefused = /^(28|3D)/.test((error as { code?: string }).code ?? '')
    throw failure('Postgres', url, 'DATABASE_URL', error, isRefused)
  } finally {
    client.end().catch(() => {})
  }
}

/** Wrong user, wrong password, no password, no right. */
const REFUSALS = ['192', '193', '194', '497', '516']

async function reachClickHouse(url: string, patienceMs: number): Promise<void> {
  const house = openClickHouse({ url, database: 'default', requestTimeoutMs: patienceMs })
  try {
    await house.query('reach', 'SELECT 1')
  } catch (error) {
    const isRefused = REFUSALS.includes((error as { code?: string }).code ?? '')
    throw failure('ClickHouse', url, 'CLICKHOUSE_URL', error, isRefused)
  } finally {
    await house.close()
  }
}

function failure(
  what: string,
  url: string,
  setting: string,
  cause: unknown,
  isRefused: boolean,
): VaultlogError {
  const { protocol, username, host, pathname } = new URL(url)
  const where = `${what} at ${protocol}//${username ? `${username}@` : ''}${host}${pathname}`
  // A name with several addresses fails with an error for each, and without words of its own.
  const [first = cause] = cause instanceof AggregateError ? cause.errors : []
  const reason = first instanceof Error ? first.message.trim() : String(first)
  return isRefused
    ? new ConfigError(`${where} refuses: ${reason} See ${setting}.`, { cause })
    : new UnavailableError(
        `${where} does not answer: ${reason}. Is it running, and is ${setting} its address?`,
        { cause },
      )
}
