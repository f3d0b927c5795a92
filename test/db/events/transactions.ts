import type pg from 'pg'

/** What the transactions of this database's connections do, but for the one that asks. */
export async function transactions(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ state: string }>(
    `SELECT state FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND (xact_start IS NOT NULL OR state LIKE 'idle in%')`,
  )
  return rows.map(({ state }) => state)
}
