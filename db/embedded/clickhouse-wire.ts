/** Pure parts of the ClickHouse HTTP interface: formats, errors, users, settings. */

import type { IncomingMessage } from 'node:http'
import { EVERY_PARTNER } from '../clickhouse/every-partner.ts'

/** Query parameters of the interface itself (src/Server/HTTPHandler.cpp); every other one is a setting. */
const reserved = new Set(
  `query query_id database user password quota_key role stacktrace compress decompress default_format session_id
   session_timeout session_check close_session wait_end_of_query buffer_size client_protocol_version
   http_wait_end_of_query`
    .trim()
    .split(/\s+/),
)

/**
 * Settings that tools of analysts send with their queries, and a read-only user may change. deploy/clickhouse/users.xml has the
 * same, and those of `ReadOnlyLimits`. Not `additional_table_filters` (Grafana's ad-hoc filters): it holds expressions.
 */
export const CHANGEABLE: readonly string[] =
  `date_time_input_format date_time_output_format session_timezone log_comment enable_http_compression
  http_zlib_compression_level send_progress_in_http_headers http_headers_progress_interval_ms
  http_write_exception_in_output_format cancel_http_readonly_queries_on_client_close http_response_buffer_size connect_timeout
  receive_timeout send_timeout extremes max_block_size join_use_nulls result_overflow_mode
  timeout_overflow_mode prefer_column_name_to_alias group_by_use_nulls union_default_mode cast_keep_nullable`.split(
    /\s+/,
  )

/** How results are written. */
const presentation = /^(output_format_(?!schema)\w+|format_(?!schema|template_|avro_)\w+)$/

export class ClickHouseException extends Error {
  readonly code: number

  /** @param text as ClickHouse writes it, `Code: N. DB::Exception: ... (NAME)` */
  constructor(text: string) {
    super(text)
    this.code = Number(/^Code: (\d+)/.exec(text)?.[1] ?? 1002)
  }

  static of(code: number, name: string, message: string): ClickHouseException {
    return new ClickHouseException(`Code: ${code}. DB::Exception: ${message} (${name})`)
  }
}

/** chDB wraps some messages in themselves and leaves out the version; a server does neither. */
export function exceptionText(error: unknown, version: string): string {
  let text = error instanceof Error ? error.message : String(error)
  if (!/^Code: \d+\./.test(text)) text = `Code: 1002. DB::Exception: ${text} (UNKNOWN_EXCEPTION)`
  for (let inner = unwrap(text); inner !== undefined; inner = unwrap(text)) text = inner
  text = text.replace(/ \(version [^()]*(\([^()]*\))?\)\s*$/, '')
  return `${text.trimEnd()} (version ${version} (official build))\n`
}

function unwrap(text: string): string | undefined {
  return /^Code: \d+\. DB::Exception: (Code: \d+\. DB::Exception: [\s\S]*) \(version [^()]*\)\. \([A-Z0-9_]+\)\s*$/.exec(
    text,
  )?.[1]
}

const badRequest = new Set([
  6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321, 376, 427, 441, 675, 676,
])
const notFound = new Set([46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511])
const forbidden = new Set([192, 193, 497, 512, 516])

/** As src/Server/HTTP/exceptionCodeToHTTPStatus.cpp. */
export function statusOf(code: number): number {
  if (code === 194) return 401
  if (forbidden.has(code)) return 403
  if (badRequest.has(code)) return 400
  if (notFound.has(code)) return 404
  if (code === 229) return 413
  if (code === 201 || code === 202) return 429
  if (code === 48) return 501
  if (code === 209 || code === 76 || code === 439) return 503
  if (code === 381) return 411
  if (code === 159) return 408
  return 500
}

/** Content types of the formats, as IOutputFormat::getContentType gives them. */
export function contentType(format: string): string {
  if (
    /^(JSON|JSONCompact|JSONStrings|JSONCompactStrings|JSONColumns|JSONCompactColumns|JSONColumnsWithMetadata|JSONObjectEachRow)$/i.test(
      format,
    )
  ) {
    return 'application/json; charset=UTF-8'
  }
  if (/^(JSON\w*EachRow\w*|JSONLines|NDJSON|JSONL)$/i.test(format))
    return 'application/x-ndjson; charset=UTF-8'
  if (/^(TSV|TabSeparated)/i.test(format)) return 'text/tab-separated-values; charset=UTF-8'
  if (/^CSV/i.test(format)) {
    const header = /WithNames/i.test(format) ? 'present' : 'absent'
    return `text/csv; charset=UTF-8; header=${header}`
  }
  if (/^XML$/i.test(format)) return 'application/xml; charset=UTF-8'
  if (/^Markdown$/i.test(format)) return 'text/markdown; charset=UTF-8'
  if (
    /^(Native|RowBinary\w*|Parquet|Arrow\w*|ORC|Avro|MsgPack|Protobuf\w*|CapnProto|BSONEachRow|Npy)$/i.test(
      format,
    )
  ) {
    return 'application/octet-stream'
  }
  return 'text/plain; charset=UTF-8'
}

/** How many header lines each chunk of a streamed result repeats; undefined: chunks of this format do not concatenate. */
export function streamedHeaderLines(format: string): number | undefined {
  const plain =
    /^(TSV|TSVRaw|TabSeparated|TabSeparatedRaw|CSV|JSONEachRow|JSONLines|NDJSON|JSONL|JSONStringsEachRow|JSONCompactEachRow|JSONCompactStringsEachRow|RowBinary|Native|LineAsString)$/i
  const named = /^(TSV|TabSeparated|JSONCompact(Strings)?EachRow)(Raw)?WithNames(AndTypes)?$/i
  if (plain.test(format)) return 0
  if (named.test(format)) return /AndTypes$/i.test(format) ? 2 : 1
  return undefined
}

export function afterLines(chunk: Uint8Array, lines: number): Uint8Array {
  let at = 0
  for (let i = 0; i < lines; i++) at = chunk.indexOf(10, at) + 1
  return chunk.subarray(at)
}

export const sqlString = (value: string): string =>
  `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

export interface ReadOnlyLimits {
  maxExecutionSeconds: number
  maxResultRows: number
  maxMemoryBytes: number
}

export interface Access {
  isReadOnly: boolean
  limits: ReadOnlyLimits
  /** GET may read only, whatever it says (readonly = 2: settings are free). */
  isGet: boolean
}

/**
 * The statement that makes a fresh connection this request's session. One SET, because `readonly` closes the door
 * behind itself.
 *
 * @throws ClickHouseException where a read-only user sends a setting that it may not change
 */
export function sessionSettings(
  params: URLSearchParams,
  access: Access,
  extra: Record<string, string> = {},
): string {
  const assignments = new Map<string, string>([
    ['implicit_select', '0'],
    ['max_query_size', '262144'],
    ...Object.entries(EVERY_PARTNER),
  ])
  const bounds = new Map<string, number>()
  if (access.isReadOnly) {
    bounds.set('max_execution_time', access.limits.maxExecutionSeconds)
    bounds.set('max_result_rows', access.limits.maxResultRows)
    bounds.set('max_memory_usage', access.limits.maxMemoryBytes)
    // Programs that read JSON have doubles for numbers: no amount would survive.
    assignments.set('output_format_json_quote_64bit_integers', '1')
  }
  for (const [name, most] of bounds) assignments.set(name, String(most))
  for (const [name, value] of params) {
    if (reserved.has(name) || name === '') continue
    if (!/^[A-Za-z_]\w*$/.test(name))
      throw ClickHouseException.of(115, 'UNKNOWN_SETTING', `Unknown setting '${name}'.`)
    if (name === 'readonly' && !access.isReadOnly && (value === '0' || access.isGet)) continue
    const most = bounds.get(name)
    const isWithin = most !== undefined && Number(value) > 0 && Number(value) <= most
    const isFree = name.startsWith('param_') || presentation.test(name) || CHANGEABLE.includes(name)
    if (access.isReadOnly && !isFree && !isWithin) {
      throw ClickHouseException.of(
        164,
        'READONLY',
        `Cannot modify '${name}' setting in readonly mode${most ? `, but from 1 to ${most}` : ''}.`,
      )
    }
    assignments.set(name, value)
  }
  for (const [name, value] of Object.entries(extra)) assignments.set(name, value)
  if (access.isReadOnly) assignments.set('readonly', '1')
  else if (access.isGet) assignments.set('readonly', params.get('readonly') === '1' ? '1' : '2')
  return `SET ${[...assignments].map(([name, value]) => `${name} = ${sqlString(value)}`).join(', ')}`
}

export function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}
