import type pg from 'pg'
import { inTransaction } from '../postgres.ts'
import { ConfigError } from '../process/errors.ts'
import { lockForTransaction } from './writer-lock.ts'

/** Notes that a chain is not indexed any more. Refused while its processor runs, and where nothing of it is stored. */
export async function retireChain(pool: pg.Pool, stream: number, name: string): Promise<void> {
  await inTransaction(pool, async tx => {
    await lockForTransaction(tx, stream, name)
    const { rowCount } = await tx.query(
      'UPDATE stream SET retired_at = coalesce(retired_at, clock_timestamp()) WHERE id = $1',
      [stream],
    )
    if (rowCount === 0) throw new ConfigError(`Nothing is stored of ${name}.`)
  })
}

/** A processor that runs takes its chain back. */
export async function reinstateChain(pool: pg.Pool, stream: number): Promise<void> {
  await pool.query('UPDATE stream SET retired_at = NULL WHERE id = $1 AND retired_at IS NOT NULL', [stream])
}
