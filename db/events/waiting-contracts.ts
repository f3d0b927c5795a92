import type pg from 'pg'

/** A contract that may be a vault and waits for its turn to be looked at. */
export interface WaitingContract {
  contract: string
  protocol: string
  /** A factory that is known says that it made it. */
  isMade: boolean
  /** Of the event that brought it up. */
  block: number
  logIndex: number
  /** The block at which it was looked at. */
  lookedAt?: number | undefined
}

/** Those that wait, and those that were looked at in blocks that may still be replaced. */
export async function readWaiting(db: pg.Pool, stream: number): Promise<WaitingContract[]> {
  const { rows } = await db.query<WaitingContract & { lookedAt: number | null }>(
    `SELECT contract, protocol, is_made AS "isMade", block, log_index AS "logIndex", looked_at AS "lookedAt"
     FROM waiting_contract WHERE stream = $1`,
    [stream],
  )
  return rows.map(row => ({ ...row, lookedAt: row.lookedAt ?? undefined }))
}

/** Keeps those that changed, in the transaction that stores the blocks; what was looked at in final ones goes. */
export async function storeWaiting(
  tx: pg.PoolClient,
  stream: number,
  changed: readonly WaitingContract[],
  finalHeight: number,
): Promise<void> {
  if (changed.length === 0) return
  await tx.query(
    `INSERT INTO waiting_contract (stream, contract, protocol, is_made, block, log_index, looked_at)
     SELECT $1, * FROM unnest($2::text[], $3::text[], $4::boolean[], $5::bigint[], $6::bigint[], $7::bigint[])
     ON CONFLICT (stream, contract, protocol) DO UPDATE SET is_made = excluded.is_made, block = excluded.block,
       log_index = excluded.log_index, looked_at = excluded.looked_at`,
    [
      stream,
      changed.map(({ contract }) => contract),
      changed.map(({ protocol }) => protocol),
      changed.map(({ isMade }) => isMade),
      changed.map(({ block }) => block),
      changed.map(({ logIndex }) => logIndex),
      changed.map(({ lookedAt }) => lookedAt ?? null),
    ],
  )
  await tx.query('DELETE FROM waiting_contract WHERE stream = $1 AND looked_at <= $2', [stream, finalHeight])
}

/** Undoes what blocks above a height did: contracts that they brought up go, and those that were looked at in them wait again. */
export async function retractWaiting(tx: pg.PoolClient, stream: number, to: number): Promise<void> {
  await tx.query('DELETE FROM waiting_contract WHERE stream = $1 AND block > $2', [stream, to])
  await tx.query('UPDATE waiting_contract SET looked_at = NULL WHERE stream = $1 AND looked_at > $2', [
    stream,
    to,
  ])
}
