import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { log } from '../process/log.ts'
import { isToLoopback } from '../process/loopback.ts'
import { execute } from './clickhouse-answer.ts'
import { readTask, spool, type Task } from './clickhouse-body.ts'
import type { Engine } from './clickhouse-engine.ts'
import {
  type Allowance,
  allowDatabase,
  allowFormat,
  allowStatement,
  REFUSED_FUNCTIONS,
  Turnstile,
} from './clickhouse-readonly.ts'
import { Sessions } from './clickhouse-sessions.ts'
import type { Statement } from './clickhouse-sql.ts'
import { authenticate, type Users } from './clickhouse-users.ts'
import {
  ClickHouseException,
  exceptionText,
  header,
  type ReadOnlyLimits,
  sessionSettings,
  statusOf,
} from './clickhouse-wire.ts'

export interface HttpOptions extends Users {
  /** Undefined until the engine has opened its data. */
  engine: () => Engine | undefined
  spoolDir: string
  /** Names the data directory; on every answer, so that a second start can tell its own server from others. */
  identity: string
  limits: ReadOnlyLimits
  allowance: Allowance
}

export const identityHeader = 'x-vaultlog-identity'

/** The ClickHouse HTTP interface (https://clickhouse.com/docs/interfaces/http) over an embedded engine. */
export class ClickHouseHttp {
  readonly http: Server
  readonly #options: HttpOptions
  readonly #spoolFile: () => string
  readonly #sessions = new Sessions()
  readonly #turnstile: Turnstile
  #refusedFunctions: ReadonlySet<string> = new Set()
  #version = '0'
  #timezone = 'UTC'
  #running = 0

  constructor(options: HttpOptions) {
    this.#options = options
    this.#spoolFile = spool(options.spoolDir)
    this.#turnstile = new Turnstile(options.allowance)
    const settings = { keepAliveTimeout: 30_000, requestTimeout: 0 }
    this.http = createServer(settings, (request, response) => {
      response.setHeader(identityHeader, options.identity)
      response.setHeader('X-ClickHouse-Server-Display-Name', 'vaultlog')
      response.on('error', () => {})
      this.#handle(request, response).catch((error: unknown) => this.#fail(request, response, error))
    })
    this.http.timeout = 0
  }

  /** Learns what goes into the headers; answers 503 until then. */
  async prepare(engine: Engine): Promise<void> {
    const connection = engine.connect()
    try {
      const { bytes } = await engine.query(connection, 'SELECT version(), timezone()', 'TabSeparated')
      const [v, tz] = Buffer.from(bytes).toString('utf8').trim().split('\t')
      this.#timezone = tz ?? 'UTC'
      const refused = await engine.query(connection, REFUSED_FUNCTIONS, 'TabSeparatedRaw')
      this.#refusedFunctions = new Set(Buffer.from(refused.bytes).toString('utf8').trim().split('\n'))
      this.#version = v ?? '26'
    } finally {
      engine.disconnect(connection)
    }
  }

  /** Takes no more requests, waits up to ten seconds for those that run. */
  async close(): Promise<void> {
    this.http.close()
    this.http.closeIdleConnections()
    for (let waited = 0; this.#running > 0 && waited < 10_000; waited += 20)
      await new Promise(r => setTimeout(r, 20))
    this.http.closeAllConnections()
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Whoever is let in may do everything: not a page that happens to be open in a browser of this machine.
    const site = header(request, 'sec-fetch-site') ?? 'none'
    if (request.headers.origin !== undefined || !['none', 'same-origin'].includes(site))
      return answerText(request, response, 403, 'Requests of web pages are refused\n')
    if (!isToLoopback(request.headers.host))
      return answerText(request, response, 403, 'Ask by 127.0.0.1 or localhost\n')
    const url = new URL(request.url ?? '/', 'http://localhost')
    const engine = this.#options.engine()
    if (!engine || this.#version === '0') {
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
    this.#running++
    try {
      await this.#run(engine, request, response, url.searchParams)
    } finally {
      this.#running--
    }
  }

  async #run(engine: Engine, request: IncomingMessage, response: ServerResponse, params: URLSearchParams) {
    const startedAt = performance.now()
    const queryId = params.get('query_id') || randomUUID()
    response.setHeader('X-ClickHouse-Query-Id', queryId)
    response.setHeader('X-ClickHouse-Timezone', params.get('session_timezone') || this.#timezone)
    const isReadOnly = authenticate(request, params, this.#options) === this.#options.readOnly.user
    refuseBlocks(params)
    let task: Task | undefined
    try {
      task = await readTask(request, params, this.#spoolFile, statement => {
        checkStatement(statement)
        if (isReadOnly) allowStatement(statement, this.#refusedFunctions)
      })
      const tag = randomUUID()
      const isGet = request.method === 'GET' || request.method === 'HEAD'
      const settings = sessionSettings(
        params,
        { isReadOnly, limits: this.#options.limits, isGet },
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
      const leave = isReadOnly ? this.#turnstile.enter() : undefined
      response.on('close', onClose)
      try {
        const [sessions, version] = [this.#sessions, this.#version]
        await execute({
          engine,
          sessions,
          version,
          request,
          response,
          params,
          task,
          prelude,
          format,
          isReadOnly,
          startedAt,
        })
      } finally {
        response.off('close', onClose)
        leave?.()
      }
    } finally {
      if (task?.file) await rm(task.file, { force: true })
    }
  }

  #fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    if (response.destroyed) return
    const text = exceptionText(error, this.#version)
    const code = Number(/^Code: (\d+)/.exec(text)?.[1] ?? 1002)
    if (response.headersSent) {
      response.destroy()
      return
    }
    if (code === 1002) log.warn({ err: error }, 'embedded ClickHouse: request failed')
    response.setHeader('X-ClickHouse-Exception-Code', String(code))
    answerText(request, response, statusOf(code), text)
  }
}

function refuseBlocks(params: URLSearchParams): void {
  for (const name of ['compress', 'decompress']) {
    if (params.get(name) === '1') {
      throw ClickHouseException.of(
        48,
        'NOT_IMPLEMENTED',
        `${name}=1 (native blocks) is not supported by the embedded ClickHouse; use HTTP compression`,
      )
    }
  }
}

function checkStatement(statement: Statement): void {
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
}

function answerText(request: IncomingMessage, response: ServerResponse, status: number, text: string): void {
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
