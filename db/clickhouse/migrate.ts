import { readdir, readFile } from 'node:fs/promises'
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import { type ClickHouse, databaseOf } from './client.ts'
import { localName, onCluster } from './cluster.ts'

const folder = new URL('./migrations/', import.meta.url)

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
 * Brings a database to the newest schema. Files are idempotent and applied once each, in order.
 * With `staging`, the database is a shadow: its event and retracted are views on those of that live database.
 */
export async function migrateClickHouse(
  house: ClickHouse,
  options: { staging?: string } = {},
): Promise<string[]> {
  const files = await readMigrations()
  // Whom only tables are granted may not even ask whether to make one.
  const known = await appliedTo(house)
  if (known && files.every(({ file }) => known.has(file))) return []
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
  applied_at DateTime DEFAULT now() COMMENT 'when it was applied, in the time of the server'
) ENGINE = MergeTree
ORDER BY name
COMMENT 'Grain: one row per applied file of \`migrations/\`.'`,
  )
  const done = await appliedTo(house)
  const applied: string[] = []
  for (const { file, sql } of files) {
    if (done?.has(file)) continue
    if (options.staging && file === '0001_event.sql') {
      for (const table of STAGING) {
        await run(
          `CREATE VIEW IF NOT EXISTS ${table} AS SELECT * FROM ${identifier(options.staging)}.${table}`,
        )
      }
    } else {
      for (const statement of splitStatements(sql)) await run(statement)
    }
    await house.command('migrate', 'INSERT INTO migration (name) VALUES ({file:String})', { file })
    applied.push(file)
  }
  return applied
}

/** Files that were applied; undefined where there is no such database. */
async function appliedTo(house: ClickHouse): Promise<Set<string> | undefined> {
  try {
    const rows = await house.query<{ name: string }>('migrate', 'SELECT name FROM migration')
    return new Set(rows.map(({ name }) => name))
  } catch (error) {
    if (error instanceof ClickHouseError && /^UNKNOWN_(DATABASE|TABLE)$/.test(error.type ?? ''))
      return undefined
    throw error
  }
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

/** The database beside another with the views that projections insert from: what analysts list has none of them. */
function internalOf(database: string): string {
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
  schema ??= readMigrations().then(files =>
    files.flatMap(({ sql }) =>
      [...sql.matchAll(/^CREATE (?:TABLE|VIEW) IF NOT EXISTS (?:internal\.)?(\w+)/gm)].map(
        ([, name = '']) => name,
      ),
    ),
  )
  return schema
}

let schema: Promise<string[]> | undefined

async function readMigrations(): Promise<{ file: string; sql: string }[]> {
  const files = (await readdir(folder)).filter(name => name.endsWith('.sql')).sort()
  return Promise.all(files.map(async file => ({ file, sql: await readFile(new URL(file, folder), 'utf8') })))
}

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
