import type pg from 'pg'

export interface Checkpoint {
  /** Of the projection code that made the rows. */
  version: number
  position: number
  /** A batch that was begun and perhaps not finished: it is repeated with these bounds, so that its inserts deduplicate. */
  applying_to: number | null
  block_number: number
  block_time: number
}

export interface StreamRow {
  id: number
  name: string
  kind: 'chain' | 'registry' | 'prices'
  head: number
  head_height: number
  head_time: number
}

export async function listStreams(pool: pg.Pool): Promise<StreamRow[]> {
  const { rows } = await pool.query<StreamRow>(
    'SELECT id, name, kind, head, head_height, head_time FROM stream ORDER BY id',
  )
  return rows
}

export async function readCheckpoint(
  pool: pg.Pool | pg.PoolClient,
  projection: string,
  stream: number,
): Promise<Checkpoint> {
  const { rows } = await pool.query<Checkpoint>(
    'SELECT version, position, applying_to, block_number, block_time FROM checkpoint WHERE projection = $1 AND stream = $2',
    [projection, stream],
  )
  return rows[0] ?? { version: 0, position: 0, applying_to: null, block_number: -1, block_time: 0 }
}

/** Notes that (position, to] is about to be applied. */
export async function beginBatch(
  pool: pg.PoolClient,
  projection: string,
  stream: number,
  to: number,
  version = 1,
): Promise<void> {
  await pool.query(
    `INSERT INTO checkpoint (projection, stream, version, applying_to) VALUES ($1, $2, $4, $3)
     ON CONFLICT (projection, stream) DO UPDATE SET applying_to = $3`,
    [projection, stream, to, version],
  )
}

/** Notes that everything up to `to` is applied, and tells those who listen on vaultlog_checkpoint. */
export async function finishBatch(
  pool: pg.PoolClient,
  projection: string,
  stream: number,
  to: number,
  block: { number: number; time: number },
): Promise<void> {
  await pool.query(
    `UPDATE checkpoint SET position = $3, applying_to = NULL, block_number = $4, block_time = $5, updated_at = clock_timestamp()
     WHERE projection = $1 AND stream = $2`,
    [projection, stream, to, block.number, block.time],
  )
  await pool.query(`SELECT pg_notify('vaultlog_checkpoint', $1)`, [`${projection} ${stream} ${to}`])
}

/**
 * Runs `work` while holding the lock of (projection, stream), shared by all workers; undefined when another has it.
 * The lock is the connection's: a killed worker frees it.
 */
export async function withLock<T>(
  pool: pg.Pool,
  projection: string,
  stream: number,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T | undefined> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    const { rows } = await client.query<{ free: boolean }>(
      `SELECT pg_try_advisory_lock(hashtext('vaultlog projection ' || $1), $2) AS free`,
      [projection, stream],
    )
    if (!rows[0]?.free) return undefined
    try {
      return await work(client)
    } finally {
      await client
        .query(`SELECT pg_advisory_unlock(hashtext('vaultlog projection ' || $1), $2)`, [projection, stream])
        .catch((error: Error) => {
          broken = error
        })
    }
  } finally {
    client.release(broken)
  }
}
