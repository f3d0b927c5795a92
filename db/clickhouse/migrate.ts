import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import {
  type AppliedMigration,
  type Migration,
  pendingMigrations,
  readMigrations,
} from '../migration-files.ts'
import { type ClickHouse, databaseOf } from './client.ts'
import { localName, onCluster } from './cluster.ts'

const MIGRATIONS = new URL('./migrations/', import.meta.url)

/** Tables that are staged from the event store, not made by projections; a shadow database reads the live ones. */
const STAGING = ['event', 'retracted']

/** The statements of a migration file. A semicolon at the end of a line ends a statement. */
export function splitStatements(sql: string): string[] {
  return sql
    .split(/;\s*(?:\n|$)/)
    .map(statement => statement.replace(/^(\s*--[^\n]*\n)+/, '').trim())
    .filter(statement => statement.replace(/--[^\n]*/g, '').trim() !== '')
}

/**
 * Brings a database to the newest schema. Files are idempotent and applied once each, in order; of views that projections insert from,
 * only the newest is made. A new database has its files noted once all are applied.
 * With `staging`, the database is a shadow: its event and retracted are views on those of that live database, and it has no
 * views for readers, which make up two fifths of the time.
 *
 * @throws ConfigError if a file that was applied has been changed since
 */
export async function migrateClickHouse(
  house: ClickHouse,
  options: { staging?: string; folder?: URL } = {},
): Promise<string[]> {
  const migrations = await readMigrations(options.folder ?? MIGRATIONS)
  // A user with rights on tables alone may not run CREATE DATABASE, not even IF NOT EXISTS.
  if ((await findPending(house, migrations))?.length === 0) return []
  await inDefault(house, async admin => {
    for (const database of [house.database, internalOf(house.database)])
      await admin.command(
        'migrate',
        `CREATE DATABASE IF NOT EXISTS ${identifier(database)}${everyNode(house)} ENGINE = Atomic`,
      )
  })
  const run = async (sql: string) => {
    for (const statement of house.cluster ? onCluster(sql, identifier(house.cluster)) : [sql])
      await house.command('migrate', withInternal(statement, house.database))
  }
  await run(
    `CREATE TABLE IF NOT EXISTS migration (
  name String COMMENT 'file that was applied',
  checksum String COMMENT 'SHA-256 of the file as it was applied, in hex',
  applied_at DateTime DEFAULT now() COMMENT 'when it was applied, in the time of the server'
) ENGINE = MergeTree
ORDER BY name
COMMENT 'Grain: one row per applied file of \`migrations/\`.'`,
  )
  const pending = (await findPending(house, migrations)) ?? migrations
  const leftOut = options.staging ? viewsForReaders(migrations) : new Set<string>()
  const record = (files: readonly Migration[]) =>
    house.client.insert({
      table: 'migration',
      values: files.map(({ file, checksum }) => ({ name: file, checksum })),
      columns: ['name', 'checksum'],
      format: 'JSONEachRow',
      clickhouse_settings: { log_comment: 'migrate' },
    })
  const isNew = pending.length === migrations.length
  for (const [i, migration] of pending.entries()) {
    if (options.staging && migration.file === '0001_event.sql') {
      for (const table of STAGING) {
        await run(
          `CREATE VIEW IF NOT EXISTS ${table} AS SELECT * FROM ${identifier(options.staging)}.${table}`,
        )
      }
    } else {
      const madeAgain = internalViews(pending.slice(i + 1))
      const statements = splitStatements(migration.sql).filter(
        statement => !leftOut.has(subjectOf(statement)) && !madeAgain.has(internalOne(statement)),
      )
      // A table needs nothing else of its file, and what it is filled from needs tables alone.
      await Promise.all(statements.filter(isTable).map(run))
      await Promise.all(statements.filter(internalOne).map(run))
      for (const statement of statements)
        if (!isTable(statement) && !internalOne(statement)) await run(statement)
    }
    if (!isNew) await record([migration])
  }
  if (isNew) await record(pending)
  return pending.map(({ file }) => file)
}

const isTable = (statement: string): boolean => statement.startsWith('CREATE TABLE ')

/** The view that a statement makes that projections insert from, if it makes one. */
const internalOne = (statement: string): string =>
  /^CREATE VIEW IF NOT EXISTS internal\.(\w+)/.exec(statement)?.[1] ?? ''

const internalViews = (migrations: readonly Migration[]): ReadonlySet<string> =>
  new Set(migrations.flatMap(({ sql }) => splitStatements(sql).map(internalOne).filter(Boolean)))

/** What a statement makes or changes, where it is a table or view of the database itself. */
const subjectOf = (statement: string): string =>
  /^(?:CREATE \w+ IF NOT EXISTS|ALTER TABLE) (\w+)\b(?!\.)/.exec(statement)?.[1] ?? ''

/** Names of views that no projection fills from: internal ones are in a database of their own. */
function viewsForReaders(migrations: readonly Migration[]): ReadonlySet<string> {
  const found = migrations.flatMap(({ sql }) => [
    ...sql.matchAll(/^CREATE VIEW IF NOT EXISTS (\w+)\b(?!\.)/gm),
  ])
  return new Set(found.map(([, name = '']) => name))
}

/** Files that are not applied yet; undefined where there is no such database. */
async function findPending(
  house: ClickHouse,
  migrations: readonly Migration[],
): Promise<Migration[] | undefined> {
  let applied: AppliedMigration[]
  try {
    applied = await house.query<AppliedMigration>('migrate', 'SELECT * FROM migration')
  } catch (error) {
    if (error instanceof ClickHouseError && /^UNKNOWN_(DATABASE|TABLE)$/.test(error.type ?? ''))
      return undefined
    throw error
  }
  return pendingMigrations(migrations, applied, {
    database: `ClickHouse, database ${house.database}`,
    otherwise:
      ' Or drop that database and run `vaultlog rebuild`, which makes all read models anew from the events.',
  })
}

/** Drops a database, and the one of the views that fill it. */
export async function dropClickHouse(house: ClickHouse, database = house.database): Promise<void> {
  await inDefault(house, async admin => {
    for (const name of [internalOf(database), database])
      await admin.command('drop', `DROP DATABASE IF EXISTS ${identifier(name)}${everyNode(house)} SYNC`)
  })
}

async function inDefault(house: ClickHouse, work: (admin: ClickHouse) => Promise<void>): Promise<void> {
  const admin = house.in('default')
  try {
    await work(admin)
  } finally {
    await admin.close()
  }
}

/** Name of the database that holds the views that projections insert from: apart from `database`, so that analysts do not find them among their tables. */
export function internalOf(database: string): string {
  return `${database}_internal`
}

/** A view of that database, as a statement of this client names it. */
export function internalView(client: ClickHouseClient, name: string): string {
  return `${identifier(internalOf(databaseOf(client)))}.${identifier(name)}`
}

/** `internal.` in a migration is that database; its views follow the code, whatever stands there. */
function withInternal(sql: string, database: string): string {
  return sql
    .replace(/^CREATE VIEW IF NOT EXISTS internal\./, 'CREATE OR REPLACE VIEW internal.')
    .replace(/\binternal\./g, `${identifier(internalOf(database))}.`)
}

/** Every table and view that the migrations make. */
export async function tablesOfSchema(): Promise<string[]> {
  schema ??= readMigrations(MIGRATIONS).then(files =>
    files.flatMap(({ sql }) =>
      [...sql.matchAll(/^CREATE (?:TABLE|VIEW) IF NOT EXISTS (?:internal\.)?(\w+)/gm)].map(
        ([, name = '']) => name,
      ),
    ),
  )
  return schema
}

let schema: Promise<string[]> | undefined

/** For statements that change a schema or whole partitions: on a cluster they are to be carried out on every node. */
export function everyNode({ cluster }: ClickHouse): string {
  return cluster ? ` ON CLUSTER ${identifier(cluster)}` : ''
}

/** Where the rows of a table lie: what is exchanged and dropped by partition. */
export function storage({ database, cluster }: ClickHouse, table: string): string {
  return `${identifier(database)}.${identifier(cluster ? localName(table) : table)}`
}

/** A name of ours as SQL; anything but letters, digits and underscores is refused. */
export function identifier(name: string): string {
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)) throw new TypeError(`not a database or table name: ${name}`)
  return name
}
