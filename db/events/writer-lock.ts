import type pg from 'pg'
import { SecondWriterError } from './chain-errors.ts'

/** Of the two keys of the advisory lock that a stream's one writer holds; the other is the stream's number. */
const KEY = `hashtext('vaultlog writer')`

/** Takes the lock for as long as the connection lasts. Gives whether it was free. */
export const takeWriterLock = (client: pg.PoolClient, stream: number): Promise<boolean> =>
  take(client, 'pg_try_advisory_lock', stream)

/** Takes it until the transaction ends. @throws SecondWriterError while a processor, or another command, has it */
export async function lockForTransaction(tx: pg.PoolClient, stream: number, name: string): Promise<void> {
  if (!(await take(tx, 'pg_try_advisory_xact_lock', stream))) throw new SecondWriterError(name)
}

async function take(client: pg.PoolClient, by: string, stream: number): Promise<boolean> {
  const { rows } = await client.query<{ free: boolean }>(`SELECT ${by}(${KEY}, $1) AS free`, [stream])
  return rows[0]?.free ?? false
}

/** SQL: whether somebody has it. `stream`: its number, in SQL. */
export const hasWriter = (stream: string): string =>
  `EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
     AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
     AND l.classid::bigint = (${KEY}::bigint & 4294967295)
     AND l.objid::bigint = (${stream}::bigint & 4294967295))`
