import type pg from 'pg'

/** What a contract logged on a day of the chain, as far as it is counted. */
export interface LogsOfDay {
  contract: string
  /** Days since 1970. */
  day: number
  logs: number
  /** The blocks of the day from which on, and up to which, its logs are left out. */
  leftOutFrom?: number | undefined
  leftOutTo?: number | undefined
}

export async function readLogBudgets(db: pg.Pool, stream: number): Promise<LogsOfDay[]> {
  const { rows } = await db.query<LogsOfDay & { leftOutFrom: number | null; leftOutTo: number | null }>(
    `SELECT contract, day, logs, left_out_from AS "leftOutFrom", left_out_to AS "leftOutTo" FROM log_budget WHERE stream = $1`,
    [stream],
  )
  return rows.map(row => ({
    ...row,
    leftOutFrom: row.leftOutFrom ?? undefined,
    leftOutTo: row.leftOutTo ?? undefined,
  }))
}

/** Keeps what changed, in the transaction that stores the blocks; `done` go. */
export async function storeLogBudgets(
  tx: pg.PoolClient,
  stream: number,
  changed: readonly LogsOfDay[],
  done: readonly LogsOfDay[],
): Promise<void> {
  if (changed.length > 0)
    await tx.query(
      `INSERT INTO log_budget (stream, contract, day, logs, left_out_from, left_out_to)
       SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
       ON CONFLICT (stream, contract, day) DO UPDATE
       SET logs = excluded.logs, left_out_from = excluded.left_out_from, left_out_to = excluded.left_out_to`,
      [
        stream,
        changed.map(({ contract }) => contract),
        changed.map(({ day }) => day),
        changed.map(({ logs }) => logs),
        changed.map(({ leftOutFrom }) => leftOutFrom ?? null),
        changed.map(({ leftOutTo }) => leftOutTo ?? null),
      ],
    )
  if (done.length > 0)
    await tx.query(
      'DELETE FROM log_budget WHERE stream = $1 AND (contract, day) IN (SELECT * FROM unnest($2::text[], $3::bigint[]))',
      [stream, done.map(({ contract }) => contract), done.map(({ day }) => day)],
    )
}

/** Forgets that logs above a height were left out; the counts stay. */
export async function retractLogBudgets(tx: pg.PoolClient, stream: number, to: number): Promise<void> {
  await tx.query(
    `UPDATE log_budget SET left_out_from = CASE WHEN left_out_from > $2 THEN NULL ELSE left_out_from END, left_out_to = NULL
     WHERE stream = $1 AND (left_out_from > $2 OR left_out_to >= $2)`,
    [stream, to],
  )
}
