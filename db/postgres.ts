import pg from 'pg'
import { PatientClient, watchConnection } from './lost-connections.ts'
import {
  type AppliedMigration,
  type Migration,
  pendingMigrations,
  readMigrations,
} from './migration-files.ts'
import { log } from './process/log.ts'
import { grantRoles } from './roles.ts'

// numeric and int8 stay exact: int8 as bigint would break JSON and arithmetic with block numbers, which are safe integers.
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8
      ? (value: string) => Number(value)
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/**
 * A pool on the event store's database. `max` connections; statements named by `name` in pg_stat_activity. Where
 * `patienceMs` is given, a statement or connection that takes longer fails, and its connection is not used again.
 */
export function openPostgres(url: string, name: string, max = 4, patienceMs?: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: `vaultlog-${name}`,
    max,
    types,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    Client: PatientClient,
    onConnect: client => watchConnection(client, url),
    query_timeout: patienceMs,
    connectionTimeoutMillis: patienceMs,
  })
  // A connection lost while it is lent out is told to whoever asks it next; without a listener it would end the process.
  pool.on('connect', client => client.on('error', () => {}))
  pool.on('error', error => log.warn({ error: error.message }, 'idle Postgres connection lost'))
  return pool
}

/** Runs `work` in a transaction; serialization failures and deadlocks are tried again, everything else is thrown. */
export async function inTransaction<T>(pool: pg.Pool, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const client = await pool.connect()
    let broken: Error | undefined
    try {
      await client.query('BEGIN')
      const result = await work(client)
      await client.query('COMMIT')
      return result
    } catch (error) {
      await client.query('ROLLBACK').catch((rollbackError: Error) => {
        broken = rollbackError
      })
      const code = (error as { code?: string }).code
      if ((code === '40001' || code === '40P01') && attempt < 5) continue
      throw error
    } finally {
      client.release(broken)
    }
  }
}

const MIGRATIONS = new URL('./migrations/', import.meta.url)

/**
 * Applies the numbered files of a folder that are not applied yet, each once, one migrator at a time, all or none.
 *
 * @throws ConfigError if a file that was applied has been changed since
 */
export async function migratePostgres(pool: pg.Pool, folder = MIGRATIONS): Promise<string[]> {
  const migrations = await readMigrations(folder)
  // A user with rights on tables alone may not run CREATE TABLE, not even IF NOT EXISTS.
  const { rows } = await pool.query<{ there: boolean }>(
    "SELECT to_regclass('migration') IS NOT NULL AS there",
  )
  if (rows[0]?.there && (await findPending(pool, migrations)).length === 0) return []
  return inTransaction(pool, async tx => {
    await tx.query(`SELECT pg_advisory_xact_lock(hashtext('vaultlog migrate'))`)
    await tx.query(
      `CREATE TABLE IF NOT EXISTS migration (
        name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
    )
    const pending = await findPending(tx, migrations)
    for (const { file, sql, checksum } of pending) {
      await tx.query(sql)
      await tx.query('INSERT INTO migration (name, checksum) VALUES ($1, $2)', [file, checksum])
    }
    if (pending.length > 0) await grantRoles(tx)
    return pending.map(({ file }) => file)
  })
}

async function findPending(
  db: pg.Pool | pg.PoolClient,
  migrations: readonly Migration[],
): Promise<Migration[]> {
  const { rows } = await db.query<AppliedMigration>('SELECT * FROM migration')
  return pendingMigrations(migrations, rows, {
    database: 'Postgres',
    otherwise:
      ' Where nobody changed it: builds of before the first release are not upgraded. Go on with the build that made the database, or begin with an empty one.',
  })
}
