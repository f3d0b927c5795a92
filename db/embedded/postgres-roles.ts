import pg from 'pg'
import type { Passwords } from './passwords.ts'

const DATABASE = 'vaultlog'

export interface PostgresUrls {
  /** Of the superuser, on the database that is always there: for starting, and for nothing else. */
  admin: string
  /** Owner of the event store, no superuser: it runs no program and reads no file of the machine. */
  owner: string
  /** Reads the view of raw events. */
  graphql: string
}

export const ADMIN = 'postgres'

export function urlsOf(port: number, passwords: Passwords): PostgresUrls {
  const url = (user: string, password: string, database: string) =>
    `postgres://${user}:${password}@127.0.0.1:${port}/${database}`
  return {
    admin: url(ADMIN, passwords.postgresAdmin, 'postgres'),
    owner: url('vaultlog', passwords.postgres, DATABASE),
    graphql: url('vaultlog_graphql', passwords.graphql, DATABASE),
  }
}

/**
 * Roles and the database, where they are not there. `vaultlog_writer` is what processors append as; an owner without the
 * right to make roles finds it here.
 */
export async function makeRoles(admin: string, passwords: Passwords): Promise<void> {
  const client = new pg.Client({ connectionString: admin })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      'SELECT rolname AS name FROM pg_roles UNION ALL SELECT datname FROM pg_database WHERE datname = $1',
      [`${DATABASE}`],
    )
    const there = rows.filter(({ name }) => name === DATABASE).length
    if (there === 2) return
    const password = (text: string) => client.escapeLiteral(text)
    await client.query(`
      DO $$ BEGIN
        CREATE ROLE vaultlog_writer NOLOGIN; CREATE ROLE vaultlog LOGIN CREATEDB; CREATE ROLE vaultlog_graphql LOGIN;
      EXCEPTION WHEN duplicate_object THEN NULL; END $$;
      ALTER ROLE vaultlog PASSWORD ${password(passwords.postgres)};
      ALTER ROLE vaultlog_graphql CONNECTION LIMIT 24 PASSWORD ${password(passwords.graphql)};
      ALTER ROLE vaultlog_graphql SET default_transaction_read_only = on;
      ALTER ROLE vaultlog_graphql SET statement_timeout = '10s';
      ALTER ROLE vaultlog_graphql SET temp_file_limit = '256MB';
      GRANT vaultlog_writer TO vaultlog WITH ADMIN OPTION;`)
    await client.query(`CREATE DATABASE ${DATABASE} OWNER vaultlog TEMPLATE template0`)
  } finally {
    await client.end()
  }
}
