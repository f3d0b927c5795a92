import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import { identifier } from '../db/clickhouse/migrate.ts'
import { ConfigError } from '../db/process/errors.ts'

/**
 * Writes a table or view of ClickHouse to a Parquet file, in the order of its key; the file is there when it is whole.
 * `where`: a condition in SQL; views with parameters are given with them, `holders(chain = 1, vault = '0x…')`.
 * Gives its size in bytes.
 */
export async function exportParquet(
  clickhouse: ClickHouse,
  options: { from: string; where?: string; to: string; signal?: AbortSignal },
): Promise<number> {
  const [, name = '', parameters = ''] = /^(\w+)(\(.*\))?$/s.exec(options.from.trim()) ?? []
  const known = await clickhouse.query<{ name: string }>(
    'export',
    'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  )
  if (!known.some(table => table.name === name))
    throw new ConfigError(
      `There is no table or view ${options.from}. There are: ${known.map(table => table.name).join(', ')}.`,
    )
  const { stream } = await clickhouse.client.exec({
    query: `SELECT * FROM ${identifier(name)}${parameters} ${options.where ? `WHERE ${options.where}` : ''} FORMAT Parquet`,
    abort_signal: options.signal,
    clickhouse_settings: { log_comment: `export ${name}` },
  })
  const part = `${options.to}.part`
  try {
    await pipeline(stream, createWriteStream(part), { signal: options.signal })
    await rename(part, options.to)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
  return (await stat(options.to)).size
}
