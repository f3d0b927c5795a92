import { readdir, readFile, rm, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClickHouse } from '../db/clickhouse/client.ts'

/**
 * Databases that tests are done with, each a file of its name in a folder of the test run that holds a checksum of its
 * schema. To make one takes seconds, and every file of tests wants one: they are emptied and used again.
 */

/** Name and schema of a database that is free, which is the caller's from now on. */
export async function takeDatabase(
  folder: string,
): Promise<{ database: string; schema: string } | undefined> {
  for (const database of await readdir(folder)) {
    const file = join(folder, database)
    try {
      const schema = await readFile(file, 'utf8')
      // Of several that want it, one removes it.
      await unlink(file)
      return { database, schema }
    } catch {
      // Somebody else was quicker.
    }
  }
  return undefined
}

/** Empties a database and sets it free; false where a test has changed it, or left a shadow beside it, or something works in it. */
export async function freeDatabase(folder: string, house: ClickHouse, schema: string): Promise<boolean> {
  if ((await schemaOf(house)) !== schema || (await hasShadow(house)) || (await isBusy(house))) return false
  const tables = await house.query<{ name: string; sql: string }>(
    'test',
    // A table without a part, even one that was taken away in the last minutes, has no deduplication tokens either.
    `SELECT name, create_table_query AS sql FROM system.tables
    WHERE database = {database:String} AND name != 'migration' AND engine LIKE '%MergeTree'
      AND name IN (SELECT table FROM system.parts WHERE database = {database:String})`,
    { database: house.database },
  )
  // TRUNCATE leaves the tokens of parts that REPLACE PARTITION took away: the same insert would be left out.
  await Promise.all(
    tables.map(({ sql }) => house.command('test', sql.replace(/^CREATE TABLE/, 'CREATE OR REPLACE TABLE'))),
  )
  await writeFile(join(folder, house.database), schema)
  return true
}

/** A checksum of all that the migrations have made. */
export async function schemaOf(house: ClickHouse): Promise<string> {
  const [row] = await house.query<{ sum: string }>(
    'test',
    `SELECT hex(cityHash64(groupArray((database, name, create_table_query)))) AS sum FROM (
      SELECT database, name, create_table_query FROM system.tables
      WHERE database IN ({database:String}, concat({database:String}, '_internal'))
      ORDER BY database, name)`,
    { database: house.database },
  )
  return row?.sum ?? ''
}

/** An interrupted replay leaves one; it would be taken up by the next test's. */
async function hasShadow(house: ClickHouse): Promise<boolean> {
  const rows = await house.query<{ name: string }>(
    'test',
    `SELECT name FROM system.databases
    WHERE startsWith(name, concat({database:String}, '_')) AND name != concat({database:String}, '_internal')`,
    { database: house.database },
  )
  return rows.length > 0
}

async function isBusy(house: ClickHouse): Promise<boolean> {
  const [row] = await house.query<{ n: string }>(
    'test',
    // This statement is one of them.
    'SELECT count() AS n FROM system.processes WHERE current_database = {database:String}',
    { database: house.database },
  )
  return Number(row?.n ?? 0) > 1
}

/** Forgets what is free; gives the names, for a server that outlives the run. */
export async function freeDatabases(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  await rm(folder, { recursive: true, force: true })
  return names
}
