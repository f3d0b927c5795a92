import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import { createBrotliCompress, createDeflate, createGzip } from 'node:zlib'
import type { Task } from './clickhouse-body.ts'
import type { Connection, Engine, Outcome } from './clickhouse-engine.ts'
import type { Sessions } from './clickhouse-sessions.ts'
import { afterLines, contentType, exceptionText, header, streamedHeaderLines } from './clickhouse-wire.ts'

/** A result that grows beyond this is asked for again as a stream, where its format allows that. */
const bufferedResultBytes = 64 * 1024 * 1024

/** A statement that was let in, and where its answer goes. */
export interface Execution {
  engine: Engine
  sessions: Sessions
  /** Of the engine, for the text of exceptions. */
  version: string
  request: IncomingMessage
  response: ServerResponse
  params: URLSearchParams
  task: Task
  prelude: string
  format: string
  isReadOnly: boolean
  startedAt: number
}

/** Runs the statement and sends its result: whole, or as a stream where it is large. */
export async function execute(x: Execution): Promise<void> {
  const { engine, task, format } = x
  const sessionId = x.isReadOnly ? null : x.params.get('session_id')
  const headerLines = streamedHeaderLines(format)
  const mayStream =
    task.statement.kind === 'query' &&
    ['SELECT', 'WITH', 'FROM', '('].includes(task.statement.verb) &&
    headerLines !== undefined &&
    !sessionId &&
    !x.params.has('max_result_bytes') &&
    !x.params.has('result_overflow_mode')
  const limited = mayStream
    ? x.prelude.replace(/^SET /, `SET max_result_bytes = ${bufferedResultBytes}, `)
    : x.prelude

  const session = sessionId ? x.sessions.open(engine, x.params, sessionId) : undefined
  const connection = session?.connection ?? engine.connect()
  let outcome: Outcome
  try {
    await openWith(engine, connection, limited)
    outcome =
      task.statement.kind === 'insert-select'
        ? await engine.insertSelect(connection, task.sql)
        : await engine.query(connection, task.sql, format)
  } catch (error) {
    // What a failed query leaves in its connection must not reach the next answer.
    if (session) await engine.query(connection, 'SELECT 1', 'Null').catch(() => {})
    const isTooLarge = error instanceof Error && /^Code: 396\..*max bytes/s.test(error.message)
    if (mayStream && isTooLarge) return streamLarge(x, headerLines ?? 0)
    throw error
  } finally {
    if (session) session.isBusy = false
    else engine.disconnect(connection)
  }
  if (task.file) {
    outcome = { ...outcome, writtenRows: outcome.readRows, writtenBytes: outcome.readBytes }
  }
  const hasResult = task.statement.kind === 'query'
  const bytes = hasResult ? outcome.bytes : new Uint8Array(0)
  writeHead(x, hasResult ? format : undefined, {
    read_rows: String(outcome.readRows),
    read_bytes: String(outcome.readBytes),
    written_rows: String(outcome.writtenRows),
    written_bytes: String(outcome.writtenBytes),
    total_rows_to_read: '0',
    result_rows: String(hasResult ? outcome.readRows : outcome.writtenRows),
    result_bytes: String(hasResult ? bytes.length : outcome.writtenBytes),
    elapsed_ns: String(Math.round((performance.now() - x.startedAt) * 1e6)),
  })
  const out = encoder(x, bytes.length)
  out.end(bytes)
}

async function streamLarge(x: Execution, headerLines: number): Promise<void> {
  const connection = x.engine.connect()
  const exceptionTag = randomBytes(8).toString('hex')
  let out: Writable | undefined
  try {
    await openWith(x.engine, connection, x.prelude)
    for await (const chunk of x.engine.stream(connection, x.task.sql, x.format)) {
      if (x.response.destroyed) return
      const isFirst = out === undefined
      if (!out) {
        x.response.setHeader('X-ClickHouse-Exception-Tag', exceptionTag)
        writeHead(x, x.format)
        out = encoder(x)
      }
      if (!out.write(isFirst ? chunk : afterLines(chunk, headerLines))) await drained(out, x.response)
    }
    out?.end()
  } catch (error) {
    if (!out) throw error
    const message = exceptionText(error, x.version)
    const marker = '__exception__'
    out.end(
      `\r\n${marker}\r\n${exceptionTag}\r\n${message}${Buffer.byteLength(message)} ${exceptionTag}\r\n${marker}\r\n`,
    )
  } finally {
    x.engine.disconnect(connection)
  }
}

function writeHead(x: Execution, format: string | undefined, summary?: Record<string, string>): void {
  if (format) {
    x.response.setHeader('X-ClickHouse-Format', format)
    x.response.setHeader('Content-Type', contentType(format))
  } else x.response.setHeader('Content-Type', 'text/plain; charset=UTF-8')
  if (summary) x.response.setHeader('X-ClickHouse-Summary', JSON.stringify(summary))
}

/** Where the body goes: compressed if the client asked for it and set enable_http_compression. */
function encoder(x: Execution, length?: number): Writable {
  const accepted = header(x.request, 'accept-encoding') ?? ''
  const isOn = /^(1|true)$/.test(x.params.get('enable_http_compression') ?? '')
  const encoding = isOn ? ['br', 'gzip', 'deflate'].find(name => accepted.includes(name)) : undefined
  if (!encoding) {
    if (length !== undefined) x.response.setHeader('Content-Length', length)
    x.response.writeHead(200)
    return x.response
  }
  x.response.setHeader('Content-Encoding', encoding)
  x.response.writeHead(200)
  const level = Math.min(9, Math.max(1, Number(x.params.get('http_zlib_compression_level') ?? 3) || 3))
  const compressor =
    encoding === 'gzip'
      ? createGzip({ level })
      : encoding === 'deflate'
        ? createDeflate({ level })
        : createBrotliCompress()
  compressor.on('error', () => x.response.destroy())
  compressor.pipe(x.response)
  return compressor
}

/** Long parameters make a SET that is longer than a statement may be; the limit is for the client's own statement. */
async function openWith(engine: Engine, connection: Connection, prelude: string): Promise<void> {
  const isLong = prelude.length > 200_000
  if (isLong) await engine.query(connection, `SET max_query_size = ${prelude.length * 4}`, 'Null')
  await engine.query(connection, prelude, 'Null')
}

function drained(out: Writable, response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      out.off('drain', done)
      response.off('close', done)
      resolve()
    }
    out.once('drain', done)
    response.once('close', done)
  })
}
