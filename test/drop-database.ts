import pg from 'pg'

/**
 * Drops a database and whoever is still in it. Not WITH (FORCE): that fails for everybody but a superuser while
 * autovacuum is at work in the database, which a plain DROP ends by itself.
 */
export async function dropDatabase(server: string, name: string): Promise<void> {
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  try {
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = $1 AND backend_type = 'client backend'`,
      [name],
    )
    await admin.query(`DROP DATABASE IF EXISTS ${name}`)
  } finally {
    await admin.end()
  }
}
