import type { ClickHouseClient } from '@clickhouse/client'
import type { Request } from 'express'
import { isUnavailable } from '../moment/query.ts'
import { preferredOf } from './accept.ts'
import type { Endpoint } from './endpoint.ts'
import { DependencyDownError, NotAcceptableError } from './errors.ts'
import { z } from './zod.ts'

/** An answer whose rows are flat enough is a table as well: in CSV, or in Parquet. */

export type Format = 'json' | 'csv' | 'parquet'

export const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
}

export interface Column {
  /** The names of the fields that lead to it, joined by underscores. */
  name: string
  path: readonly string[]
  kind: 'integer' | 'number' | 'text'
}

const tables = new WeakMap<Endpoint, readonly Column[]>()

/** The columns of an endpoint's table, as its response has its fields; none where it has no table. */
export function columnsOf(endpoint: Endpoint): readonly Column[] {
  if (endpoint.table === undefined) return []
  const known = tables.get(endpoint)
  if (known) return known
  const rows = bare((bare(endpoint.response) as z.ZodObject).shape[endpoint.table])
  const columns = rows instanceof z.ZodArray ? columnsIn(rows.element as z.ZodType, []) : []
  tables.set(endpoint, columns)
  return columns
}

function columnsIn(schema: z.ZodType, path: readonly string[]): Column[] {
  const own = bare(schema)
  if (own instanceof z.ZodObject)
    return Object.entries(own.shape).flatMap(([name, field]) =>
      columnsIn(field as z.ZodType, [...path, name]),
    )
  const kind = own instanceof z.ZodNumber ? (own.isInt ? 'integer' : 'number') : 'text'
  return [{ name: path.join('_'), path, kind }]
}

function bare(schema: unknown): unknown {
  let at = schema
  while (at instanceof z.ZodOptional || at instanceof z.ZodNullable) at = at.unwrap()
  return at
}

/** What a request is answered in: JSON, unless it would rather have something else that there is. */
export function formatFor(endpoint: Endpoint, request: Request): Format {
  if (endpoint.table === undefined) return 'json'
  const formats = Object.keys(MEDIA_TYPES) as Format[]
  const types = formats.map(format => MEDIA_TYPES[format])
  const wanted = preferredOf(request, types)
  const format = formats.find(of => MEDIA_TYPES[of] === wanted)
  if (!format) throw new NotAcceptableError(types)
  return format
}

/** An answer that was made as JSON. */
type Answer = Record<string, unknown>

type Cell = string | number | boolean | null

/** The rows of an answer, cell by cell; what is absent is null, and what is a list in itself is its JSON. */
function cellsOf(endpoint: Endpoint, answer: Answer): Cell[][] {
  const rows = (answer[endpoint.table ?? ''] ?? []) as unknown[]
  return rows.map(row =>
    columnsOf(endpoint).map(({ path }) => {
      const value = path.reduce<unknown>((at, name) => (at as Record<string, unknown> | null)?.[name], row)
      if (value === undefined || value === null) return null
      return typeof value === 'object' ? JSON.stringify(value) : (value as Cell)
    }),
  )
}

/** Programs for sheets run what begins like this, unless it is a number. */
const isFormula = (text: string) => /^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)

function csvCell(cell: Cell): string {
  const text = cell === null ? '' : String(cell)
  const safe = typeof cell === 'string' && isFormula(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** As RFC 4180 has it, with a line of names. */
export function csvOf(endpoint: Endpoint, answer: Answer): string {
  const lines = [columnsOf(endpoint).map(({ name }) => name), ...cellsOf(endpoint, answer)]
  return lines.map(cells => `${cells.map(csvCell).join(',')}\r\n`).join('')
}

const CLICKHOUSE_TYPES = { integer: 'Nullable(Int64)', number: 'Nullable(Float64)', text: 'Nullable(String)' }
const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** Amounts and USD are text, to the last digit: Parquet has no integers as wide. */
async function parquetOf({ endpoint, clickhouse, signal }: Made, answer: Answer): Promise<Buffer> {
  const columns = columnsOf(endpoint)
  const type = `Array(Tuple(${columns.map(({ kind }) => CLICKHOUSE_TYPES[kind]).join(', ')}))`
  const rows = JSON.stringify(
    cellsOf(endpoint, answer).map(cells =>
      cells.map((cell, i) => (columns[i]?.kind === 'text' && cell !== null ? String(cell) : cell)),
    ),
  )
  const query = `SELECT ${columns.map(({ name }, i) => `row.${i + 1} AS \`${name}\``).join(', ')}
    FROM (SELECT arrayJoin(JSONExtract(${quoted(rows)}, '${type}')) AS row) FORMAT Parquet`
  try {
    const { stream } = await clickhouse.exec({
      query,
      abort_signal: signal,
      clickhouse_settings: {
        log_comment: 'answer_as_parquet',
        // The rows are somebody's, and stand in the text of the question.
        log_queries: 0,
        max_query_size: String(query.length * 4 + 1_000_000),
      },
    })
    const parts: Buffer[] = []
    for await (const part of stream) parts.push(part as Buffer)
    return Buffer.concat(parts)
  } catch (error) {
    if (!signal.aborted && isUnavailable(error)) throw new DependencyDownError('ClickHouse', { cause: error })
    throw error
  }
}

interface Made {
  endpoint: Endpoint
  /** The answer as JSON. */
  text: string
  /** Below the address of the API. */
  url: string
  clickhouse: ClickHouseClient
  signal: AbortSignal
}

/** A body, and the headers that say what it is. */
export interface Table {
  body: string | Buffer
  headers: Readonly<Record<string, string>>
}

/** The same as a table; what a table has no place for is in its headers: where the next page is, and what an answer says of itself. */
export async function tableOf(format: Exclude<Format, 'json'>, made: Made): Promise<Table> {
  const answer = JSON.parse(made.text) as Answer
  const headers = { ...nextOf(answer, made.url), ...warningsOf(answer) }
  if (format === 'parquet')
    return {
      body: await parquetOf(made, answer),
      headers: { 'content-type': MEDIA_TYPES.parquet, ...headers },
    }
  const type = `${MEDIA_TYPES.csv}; charset=utf-8; header=present`
  return { body: csvOf(made.endpoint, answer), headers: { 'content-type': type, ...headers } }
}

function nextOf({ nextPage }: Answer, path: string): { link?: string } {
  if (typeof nextPage !== 'number') return {}
  const url = new URL(path, 'http://localhost')
  url.searchParams.set('page', String(nextPage))
  // As seen from the address that was asked, whatever a proxy calls it.
  return { link: `<${url.search}>; rel="next"` }
}

/** What an answer says is unknown or left out, as JSON in ASCII. */
function warningsOf({ errors, warnings }: Answer): { 'x-warnings'?: string } {
  const all = Object.entries({ ...(errors as Record<string, unknown[]> | undefined), warnings })
  const said = all.filter(([, names]) => Array.isArray(names) && names.length > 0)
  if (said.length === 0) return {}
  const text = JSON.stringify(Object.fromEntries(said))
  return {
    'x-warnings': text.replaceAll(
      /[^ -~]/g,
      sign => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  }
}
