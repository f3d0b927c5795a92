import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { ConfigError } from './process/errors.ts'

export interface Migration {
  /** Its name, which orders it among the others. */
  file: string
  sql: string
  /** SHA-256 of its text, in hex. */
  checksum: string
}

/** A row of the table `migration`, which either database has. */
export interface AppliedMigration {
  name: string
  checksum?: string
}

/** The migrations in a folder, in the order in which they are applied. */
export async function readMigrations(folder: URL): Promise<Migration[]> {
  const files = (await readdir(folder)).filter(name => name.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async file => {
      const sql = await readFile(new URL(file, folder), 'utf8')
      return { file, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

/**
 * The migrations that a database does not have yet. `database` is what a reader knows it by; `otherwise` is what can be
 * done instead of putting the file back, if anything. Migrations of a newer build, which have no file, are left alone.
 *
 * @throws ConfigError if a file is not what was applied: the schema would be neither the old one nor the new
 */
export function pendingMigrations(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
  { database, otherwise = '' }: { database: string; otherwise?: string },
): Migration[] {
  const files = new Map(migrations.map(migration => [migration.file, migration]))
  const changed = applied.find(({ name, checksum }) => {
    const migration = files.get(name)
    return migration && migration.checksum !== checksum
  })
  if (changed)
    throw new ConfigError(
      `Migration ${changed.name} is not what was applied to ${database}: an applied migration stays as it is. ` +
        `Put the file back, and write the change as a new migration with a number after the last.${otherwise}`,
    )
  const done = new Set(applied.map(({ name }) => name))
  return migrations.filter(({ file }) => !done.has(file))
}
