import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import { createBrotliCompress, createDeflate, createGzip } from 'node:zlib'
import { log } from '../process/log.ts'
import { isToLoopback } from '../process/loopback.ts'
import { readTask, spool, type Task } from './clickhouse-body.ts'
import type { Connection, Engine, Outcome } from './clickhouse-engine.ts'
import {
  type Allowance,
  allowDatabase,
  allowFormat,
  allowStatement,
  REFUSED_FUNCTIONS,
  Turnstile,
} from './clickhouse-readonly.ts'
import { Sessions } from './clickhouse-sessions.ts'
import {
  afterLines,
  ClickHouseException,
  contentType,
  exceptionText,
  type ReadOnlyLimits,
  sessionSettings,
  statusOf,
  streamedHeaderLines,
} from './clickhouse-wire.ts'

export interface HttpOptions {
  /** Undefined until the engine has opened its data. */
  engine: () => Engine | undefined
  spoolDir: string
  /** Names the data directory; on every answer, so that a second start can tell its own server from others. */
  identity: string
  /** Of the user `default`. */
  password: string
  readOnly: { user: string; password: string }
  limits: ReadOnlyLimits
  allowance: Allowance
}

export const identityHeader = 'x-vaultlog-identity'

/** A result that grows beyond this is asked for again as a stream, where its format allows that. */
const bufferedResultBytes = 64 * 1024 * 1024

/** The ClickHouse HTTP interface (https://clickhouse.com/docs/interfaces/http) over an embedded engine. */
export function createClickHouseHttp(options: HttpOptions) {
  const spoolFile = spool(options.spoolDir)
  const sessions = new Sessions()
  const turnstile = new Turnstile(options.allowance)
  let refusedFunctions: ReadonlySet<string> = new Set()
  let version = '0'
  let timezone = 'UTC'
  let running = 0

  const http: Server = createServer({ keepAliveTimeout: 30_000, requestTimeout: 0 }, (request, response) => {
    response.setHeader(identityHeader, options.identity)
    response.setHeader('X-ClickHouse-Server-Display-Name', 'vaultlog')
    response.on('error', () => {})
    handle(request, response).catch((error: unknown) => fail(request, response, error))
  })
  http.timeout = 0

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Whoever is let in may do everything: not a page that happens to be open in a browser of this machine.
    const site = header(request, 'sec-fetch-site') ?? 'none'
    if (request.headers.origin !== undefined || !['none', 'same-origin'].includes(site))
      return answerText(request, response, 403, 'Requests of web pages are refused\n')
    if (!isToLoopback(request.headers.host))
      return answerText(request, response, 403, 'Ask by 127.0.0.1 or localhost\n')
    const url = new URL(request.url ?? '/', 'http://localhost')
    const engine = options.engine()
    if (!engine || version === '0') {
      return answerText(request, response, 503, 'Starting\n')
    }
    if (url.pathname === '/ping' || url.pathname === '/replicas_status') {
      return answerText(request, response, 200, 'Ok.\n')
    }
    if (url.pathname !== '/') {
      return answerText(
        request,
        response,
        404,
        `There is no handle ${url.pathname}\n\nUse / or /ping for health checks.\n`,
      )
    }
    if (request.method === 'GET' && url.search === '') return answerText(request, response, 200, 'Ok.\n')
    if (!['GET', 'HEAD', 'POST', 'PUT'].includes(request.method ?? '')) {
      return answerText(request, response, 405, 'Method not allowed\n')
    }
    running++
    try {
      await run(engine, request, response, url.searchParams)
    } finally {
      running--
    }
  }

  async function run(
    engine: Engine,
    request: IncomingMessage,
    response: ServerResponse,
    params: URLSearchParams,
  ) {
    const startedAt = performance.now()
    const queryId = params.get('query_id') || randomUUID()
    response.setHeader('X-ClickHouse-Query-Id', queryId)
    response.setHeader('X-ClickHouse-Timezone', params.get('session_timezone') || timezone)
    const isReadOnly = authenticate(request, params) === options.readOnly.user
    for (const name of ['compress', 'decompress']) {
      if (params.get(name) === '1') {
        throw ClickHouseException.of(
          48,
          'NOT_IMPLEMENTED',
          `${name}=1 (native blocks) is not supported by the embedded ClickHouse; use HTTP compression`,
        )
      }
    }
    let task: Task | undefined
    try {
      task = await readTask(request, params, spoolFile, statement => {
        if (statement.kind === 'empty')
          throw ClickHouseException.of(
            62,
            'SYNTAX_ERROR',
            'Syntax error: failed at position 1 (end of query): Empty query',
          )
        if (statement.isMulti) {
          throw ClickHouseException.of(
            62,
            'SYNTAX_ERROR',
            `Syntax error (Multi-statements are not allowed): failed at position ${statement.end + 1} (end of query)`,
          )
        }
        if (statement.fileClause === 'INTO OUTFILE')
          throw ClickHouseException.of(358, 'INTO_OUTFILE_NOT_ALLOWED', 'INTO OUTFILE is not allowed')
        if (statement.fileClause === 'FROM INFILE')
          throw ClickHouseException.of(
            78,
            'UNKNOWN_TYPE_OF_QUERY',
            'Query has infile and was send directly to server',
          )
        if (isReadOnly) allowStatement(statement, refusedFunctions)
      })
      const tag = randomUUID()
      const isGet = request.method === 'GET' || request.method === 'HEAD'
      const settings = sessionSettings(
        params,
        { isReadOnly, limits: options.limits, isGet },
        { query_cache_tag: tag },
      )
      // Where none is named, not the one whose tables are files.
      const database =
        params.get('database') ||
        header(request, 'x-clickhouse-database') ||
        (isReadOnly ? 'information_schema' : undefined)
      const prelude = database
        ? `${settings}; USE \`${database.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
        : settings
      const format =
        task.statement.format ??
        params.get('default_format') ??
        header(request, 'x-clickhouse-format') ??
        'TabSeparated'
      if (isReadOnly) {
        allowFormat(format)
        allowDatabase(database ?? '')
      }
      const onClose = () => {
        // A server lets a write run on when its client is gone; a read is of no use to anybody.
        if (!response.writableFinished && task?.statement.kind === 'query')
          void engine.kill(tag).catch(() => {})
      }
      const leave = isReadOnly ? turnstile.enter() : undefined
      response.on('close', onClose)
      try {
        await execute({ engine, request, response, params, task, prelude, format, isReadOnly, startedAt })
      } finally {
        response.off('close', onClose)
        leave?.()
      }
    } finally {
      if (task?.file) await rm(task.file, { force: true })
    }
  }

  interface Execution {
    engine: Engine
    request: IncomingMessage
    response: ServerResponse
    params: URLSearchParams
    task: Task
    prelude: string
    format: string
    isReadOnly: boolean
    startedAt: number
  }

  async function execute(x: Execution): Promise<void> {
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

    const session = sessionId ? sessions.open(engine, x.params, sessionId) : undefined
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
      const message = exceptionText(error, version)
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

  /** @returns the name of the user */
  function authenticate(request: IncomingMessage, params: URLSearchParams): string {
    const basic = /^Basic (.+)$/i.exec(header(request, 'authorization') ?? '')?.[1]
    const [basicUser, ...basicRest] = basic ? Buffer.from(basic, 'base64').toString('utf8').split(':') : []
    const user = header(request, 'x-clickhouse-user') ?? basicUser ?? params.get('user') ?? 'default'
    const password =
      header(request, 'x-clickhouse-key') ?? (basic ? basicRest.join(':') : params.get('password')) ?? ''
    const expected =
      user === 'default' || user === ''
        ? options.password
        : user === options.readOnly.user
          ? options.readOnly.password
          : undefined
    if (expected === undefined || !isSame(password, expected)) {
      throw ClickHouseException.of(
        516,
        'AUTHENTICATION_FAILED',
        `${user}: Authentication failed: password is incorrect, or there is no user with such name.`,
      )
    }
    return user || 'default'
  }

  function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    if (response.destroyed) return
    const text = exceptionText(error, version)
    const code = Number(/^Code: (\d+)/.exec(text)?.[1] ?? 1002)
    if (response.headersSent) {
      response.destroy()
      return
    }
    if (code === 1002) log.warn({ err: error }, 'embedded ClickHouse: request failed')
    response.setHeader('X-ClickHouse-Exception-Code', String(code))
    answerText(request, response, statusOf(code), text)
  }

  function answerText(
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    text: string,
  ): void {
    // A body that nobody will read any more: without this the next request on the connection would find it.
    if (!request.complete) {
      request.resume()
      if (status >= 400) response.setHeader('Connection', 'close')
    }
    response.writeHead(status, {
      'Content-Type': status === 200 ? 'text/html; charset=UTF-8' : 'text/plain; charset=UTF-8',
      'Content-Length': Buffer.byteLength(text),
    })
    response.end(text)
  }

  return {
    http,
    /** Learns what goes into the headers; answers 503 until then. */
    async prepare(engine: Engine): Promise<void> {
      const connection = engine.connect()
      try {
        const { bytes } = await engine.query(connection, 'SELECT version(), timezone()', 'TabSeparated')
        const [v, tz] = Buffer.from(bytes).toString('utf8').trim().split('\t')
        timezone = tz ?? 'UTC'
        const refused = await engine.query(connection, REFUSED_FUNCTIONS, 'TabSeparatedRaw')
        refusedFunctions = new Set(Buffer.from(refused.bytes).toString('utf8').trim().split('\n'))
        version = v ?? '26'
      } finally {
        engine.disconnect(connection)
      }
    },
    /** Takes no more requests, waits up to ten seconds for those that run. */
    async close(): Promise<void> {
      http.close()
      http.closeIdleConnections()
      for (let waited = 0; running > 0 && waited < 10_000; waited += 20)
        await new Promise(r => setTimeout(r, 20))
      http.closeAllConnections()
    },
  }
}

/** Long parameters make a SET that is longer than a statement may be; the limit is for the client's own statement. */
async function openWith(engine: Engine, connection: Connection, prelude: string): Promise<void> {
  const isLong = prelude.length > 200_000
  if (isLong) await engine.query(connection, `SET max_query_size = ${prelude.length * 4}`, 'Null')
  await engine.query(connection, prelude, 'Null')
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
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
