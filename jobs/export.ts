import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import { identifier } from '../db/clickhouse/migrate.ts'
import { ConfigError } from '../db/process/errors.ts'

interface ExportOptions {
  from: string
  where?: string
  to: string
  /** Amounts also in whole units, as doubles in columns of their own. */
  whole?: boolean
  signal?: AbortSignal
}

/**
 * Writes a table or view of ClickHouse to a Parquet file, in the order of its key; the file is there when it is whole.
 * `where`: a condition in SQL; views with parameters are given with them, `holders(chain = 1, vault = '0x…')`. Parquet has
 * no integers of 128 or 256 bits: they are decimal strings. Gives its size in bytes.
 */
export async function exportParquet(clickhouse: ClickHouse, options: ExportOptions): Promise<number> {
  const [, name = '', parameters = ''] = /^(\w+)(\(.*\))?$/s.exec(options.from.trim()) ?? []
  const known = await clickhouse.query<{ name: string }>(
    'export',
    'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  )
  if (!known.some(table => table.name === name))
    throw new ConfigError(
      `There is no table or view ${options.from}. There are: ${known.map(table => table.name).join(', ')}.`,
    )
  const source = `${identifier(name)}${parameters}`
  const columns = await clickhouse.query<Column>('export', `DESCRIBE (SELECT * FROM ${source})`)
  const comments = await clickhouse.query<{ name: string; comment: string }>(
    'export',
    'SELECT name, comment FROM system.columns WHERE database = currentDatabase() AND table = {name:String}',
    { name },
  )
  const units = options.whole ? unitsOf(columns, new Map(comments.map(of => [of.name, of.comment]))) : []
  const exact = columns
    .filter(isWide)
    .map(({ name: of }) => `toString(rows.${identifier(of)}) AS ${identifier(of)}`)
  const whole = units.map(
    ({ column, decimals }) =>
      `toFloat64(rows.${identifier(column)}) / pow(10., known.${decimals}) AS ${identifier(`${column}_whole`)}`,
  )
  const { stream } = await clickhouse.client.exec({
    query: `SELECT rows.* ${exact.length > 0 ? `REPLACE (${exact.join(', ')})` : ''} ${whole.map(of => `, ${of}`).join('')}
      FROM (SELECT * FROM ${source} ${options.where ? `WHERE ${options.where}` : ''}) AS rows
      ${whole.length > 0 ? `LEFT JOIN (${DECIMALS}) AS known ON rows.chain_id = known.chain_id AND rows.vault = known.vault` : ''}
      FORMAT Parquet`,
    abort_signal: options.signal,
    clickhouse_settings: { log_comment: `export ${name}`, join_use_nulls: 1 },
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

interface Column {
  name: string
  type: string
}

const isWide = ({ type }: Column) => /^(Nullable\()?U?Int(128|256)\)?$/.test(type)

const DECIMALS = `SELECT chain_id, vault, argMax(decimals, position) AS decimals, argMax(asset_decimals, position) AS asset_decimals
  FROM vault WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, vault`

/** Amounts of a vault's asset or share, as the comments of the columns say; of others the decimals are not known here. */
function unitsOf(columns: readonly Column[], comments: ReadonlyMap<string, string>) {
  const names = new Set(columns.map(({ name }) => name))
  if (!names.has('chain_id') || !names.has('vault')) return []
  return columns.filter(isWide).flatMap(({ name: column }) => {
    const said = comments.get(column) ?? ''
    if (/asset base units(?! [*×/])/.test(said)) return [{ column, decimals: 'asset_decimals' }]
    return /share base units/.test(said) ? [{ column, decimals: 'decimals' }] : []
  })
}
