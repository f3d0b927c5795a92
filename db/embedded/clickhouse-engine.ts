import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { ConfigError } from '../process/errors.ts'

/**
 * chDB's native functions. The package's `Session` is passed by on purpose: its close() waits for every operation of
 * the process, so that one long query would keep the connections of all others open.
 */
interface Native {
  CreateConnection(dir: string, args?: readonly string[]): Connection
  CloseConnection(connection: Connection): void
  QueryAsyncConnection(connection: Connection, sql: string, format: string): Promise<RawResult>
  InsertRawAsyncConnection(
    connection: Connection,
    sql: string,
    payload: Buffer,
    countLines: boolean,
  ): Promise<{ rowsWritten: number; bytesWritten: number; elapsed: number }>
  StreamQuery(connection: Connection, sql: string, format: string): StreamHandle
  StreamFetch(handle: StreamHandle): Promise<{ done: boolean; bytes?: Uint8Array; numRows?: number }>
  StreamCancel(handle: StreamHandle): void
}
declare const connectionBrand: unique symbol
export type Connection = { readonly [connectionBrand]: true }
declare const streamBrand: unique symbol
type StreamHandle = { readonly [streamBrand]: true }
interface RawResult {
  bytes: Uint8Array
  /** seconds */
  elapsed: number
  rowsRead: number
  bytesRead: number
}

export interface Outcome {
  bytes: Uint8Array
  elapsedSeconds: number
  readRows: number
  readBytes: number
  writtenRows: number
  writtenBytes: number
}

export interface EngineOptions {
  dir: string
  memoryBytes: number
  configFile?: string
  /** Queries that run at one time; the others wait. */
  concurrency: number
}

const nothing = Buffer.from('\n')

function loadNative(): Native {
  const require = createRequire(import.meta.url)
  let engine: string
  try {
    engine = require.resolve('chdb')
  } catch (error) {
    throw new ConfigError(
      'There is no embedded ClickHouse in this install (chdb is a development dependency). Set CLICKHOUSE_URL, or install with `npm ci`.',
      { cause: error },
    )
  }
  const loader: unknown = require(join(dirname(engine), 'dist', 'loader.js'))
  const shape = z.object({ loadNative: z.custom<() => Native>(value => typeof value === 'function') })
  return shape.parse(loader).loadNative()
}

/**
 * The engine of one data directory. Each request has a connection of its own: connections are sessions of their own
 * (settings, parameters, temporary tables), cost a third of a millisecond, run in parallel, and one that has failed
 * must not be used again (seen in chdb 3.4.0: rows of the failed query come with the answer of the next one).
 * Parameters are sent as `SET param_x = '...'`, because chDB's own binding is shared by all connections and not safe
 * when queries run at the same time.
 */
export class Engine {
  readonly #native: Native
  readonly #dir: string
  readonly #keeper: Connection
  readonly #concurrency: number
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(options: EngineOptions) {
    this.#native = loadNative()
    this.#dir = options.dir
    this.#concurrency = options.concurrency
    const cache = Math.min(512 * 1024 * 1024, Math.floor(options.memoryBytes / 8))
    this.#keeper = this.#native.CreateConnection(options.dir, [
      `--max_server_memory_usage=${options.memoryBytes}`,
      `--mark_cache_size=${cache}`,
      `--index_mark_cache_size=${Math.floor(cache / 4)}`,
      '--background_pool_size=4',
      ...(options.configFile ? [`--config-file=${options.configFile}`] : []),
    ])
  }

  connect(): Connection {
    return this.#native.CreateConnection(this.#dir)
  }

  disconnect(connection: Connection): void {
    this.#native.CloseConnection(connection)
  }

  async query(connection: Connection, sql: string, format: string): Promise<Outcome> {
    return this.#exclusively(async () => {
      const raw = await this.#native.QueryAsyncConnection(connection, sql, format)
      return {
        bytes: raw.bytes,
        elapsedSeconds: raw.elapsed,
        readRows: raw.rowsRead,
        readBytes: raw.bytesRead,
        writtenRows: 0,
        writtenBytes: 0,
      }
    })
  }

  /** INSERT ... SELECT: only this entry of chDB says how many rows were written. */
  async insertSelect(connection: Connection, sql: string): Promise<Outcome> {
    return this.#exclusively(async () => {
      const raw = await this.#native.InsertRawAsyncConnection(connection, sql, nothing, false)
      return {
        bytes: new Uint8Array(0),
        elapsedSeconds: raw.elapsed,
        readRows: raw.rowsWritten,
        readBytes: raw.bytesWritten,
        writtenRows: raw.rowsWritten,
        writtenBytes: raw.bytesWritten,
      }
    })
  }

  /** Result in chunks, each formatted by itself. Planning runs on the calling thread: only for large results. */
  async *stream(connection: Connection, sql: string, format: string): AsyncGenerator<Uint8Array> {
    await this.#enter()
    let handle: StreamHandle | undefined
    try {
      handle = this.#native.StreamQuery(connection, sql, format)
      for (;;) {
        const chunk = await this.#native.StreamFetch(handle)
        if (chunk.done || !chunk.bytes) {
          handle = undefined
          return
        }
        yield chunk.bytes
      }
    } catch (error) {
      // The engine frees the handle of a stream that failed.
      handle = undefined
      throw error
    } finally {
      if (handle) this.#native.StreamCancel(handle)
      this.#leave()
    }
  }

  /** Stops the query whose connection has `query_cache_tag` set to this. */
  async kill(tag: string): Promise<void> {
    const connection = this.connect()
    try {
      await this.#native.QueryAsyncConnection(
        connection,
        `KILL QUERY WHERE Settings['query_cache_tag'] = '${tag}' ASYNC`,
        'Null',
      )
    } finally {
      this.disconnect(connection)
    }
  }

  close(): void {
    this.#native.CloseConnection(this.#keeper)
  }

  async #exclusively<T>(work: () => Promise<T>): Promise<T> {
    await this.#enter()
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < this.#concurrency) {
      this.#running++
      return
    }
    await new Promise<void>(resolve => this.#waiting.push(resolve))
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#running--
  }
}
