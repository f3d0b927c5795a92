import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { insertFromFile, parseStatement, type Statement } from './clickhouse-sql.ts'
import { ClickHouseException } from './clickhouse-wire.ts'

/** What the engine is asked to run. `file` holds the data of an INSERT and is to be removed afterwards. */
export interface Task {
  sql: string
  statement: Statement
  file?: string
  /** No data came for an INSERT that needs them. */
  isWithoutData?: boolean
}

/** A statement has to show within this many bytes where its data begin; ClickHouse's max_query_size. */
const headBytes = 262_144
/** A body that is a statement and not data. */
const statementBytes = 64 * 1024 * 1024

/**
 * Statement and data of a request. The statement is the `query` parameter and the body, one after the other, as on a
 * server; the data of an INSERT go to a file, chunk by chunk, whatever their size and format.
 */
export async function readTask(
  request: IncomingMessage,
  params: URLSearchParams,
  spoolFile: () => string,
  check: (statement: Statement, sql: string) => void,
): Promise<Task> {
  const body = decoded(request)
  const type = request.headers['content-type'] ?? ''
  if (type.startsWith('multipart/form-data')) return readForm(body, type, params, check)
  const prefix = params.get('query')
  const chunks: Buffer[] = prefix ? [Buffer.from(`${prefix}\n`)] : []
  const source = body[Symbol.asyncIterator]()

  let statement = prefix ? parseStatement(latin1(chunks)) : undefined
  let isComplete = false
  if (statement?.dataStart === undefined) {
    isComplete = await take(source, chunks, headBytes)
    statement = parseStatement(latin1(chunks))
    if (statement.dataStart === undefined && !isComplete) {
      isComplete = await take(source, chunks, statementBytes)
      if (!isComplete) throw ClickHouseException.of(229, 'QUERY_IS_TOO_LARGE', 'Max query size exceeded')
      statement = parseStatement(latin1(chunks))
    }
  }
  const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
  const text = bytes.subarray(0, statement.dataStart ?? statement.end).toString('utf8')
  check(statement, text)
  if (statement.dataStart === undefined) return { sql: text, statement }

  const file = spoolFile()
  let written = bytes.length - statement.dataStart
  async function* data() {
    yield bytes.subarray(statement?.dataStart)
    for (
      let next = isComplete ? undefined : await source.next();
      next && !next.done;
      next = await source.next()
    ) {
      written += next.value.length
      yield next.value
    }
  }
  try {
    await pipeline(data, createWriteStream(file, { highWaterMark: 1024 * 1024 }))
  } catch (error) {
    await rm(file, { force: true })
    throw error
  }
  const head = bytes.subarray(0, statement.dataStart).toString('latin1')
  const sql = Buffer.from(
    insertFromFile(head, statement, Buffer.from(file).toString('latin1')),
    'latin1',
  ).toString('utf8')
  return { sql, statement, file, isWithoutData: written === 0 }
}

export function spool(dir: string): () => string {
  let count = 0
  return () => join(dir, `${process.pid}-${++count}.data`)
}

function latin1(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('latin1')
}

function decoded(request: IncomingMessage): Readable {
  const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase()
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : undefined
  if (!decoder) {
    if (encoding === 'identity' || encoding === '') return request
    throw ClickHouseException.of(
      48,
      'NOT_IMPLEMENTED',
      `Content-Encoding ${encoding} is not supported by the embedded ClickHouse`,
    )
  }
  request.on('error', error => decoder.destroy(error))
  request.on('close', () => {
    if (!request.complete) decoder.destroy(new Error('The client closed the connection'))
  })
  return request.pipe(decoder)
}

/** Reads until there are `limit` bytes; true when the body has ended. */
async function take(source: AsyncIterator<Buffer>, chunks: Buffer[], limit: number): Promise<boolean> {
  let size = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  while (size < limit) {
    const next = await source.next()
    if (next.done) return true
    chunks.push(next.value)
    size += next.value.length
  }
  return false
}

/** The client sends long parameters as a form: query, param_<name>. */
async function readForm(
  body: Readable,
  type: string,
  params: URLSearchParams,
  check: (statement: Statement, sql: string) => void,
): Promise<Task> {
  const chunks: Buffer[] = []
  if (!(await take(body[Symbol.asyncIterator](), chunks, statementBytes))) {
    throw ClickHouseException.of(229, 'QUERY_IS_TOO_LARGE', 'Max query size exceeded')
  }
  const form = await new Response(Buffer.concat(chunks), { headers: { 'content-type': type } }).formData()
  let query = params.get('query') ?? ''
  for (const [name, value] of form) {
    if (typeof value !== 'string') {
      throw ClickHouseException.of(
        48,
        'NOT_IMPLEMENTED',
        'External tables are not supported by the embedded ClickHouse',
      )
    }
    if (name === 'query') query = query ? `${query}\n${value}` : value
    else params.append(name, value)
  }
  const statement = parseStatement(Buffer.from(query).toString('latin1'))
  const sql = Buffer.from(query).subarray(0, statement.end).toString('utf8')
  check(statement, sql)
  return { sql, statement }
}
