import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { acrossShards, CLUSTER_SETTINGS } from './cluster.ts'
import { EVERY_PARTNER } from './every-partner.ts'

export interface ClickHouseOptions {
  /** May carry user and password. */
  url: string
  /** Must exist, except for the statement that creates it. */
  database: string
  /** Signs in as the data team's user. */
  readonly?: { user: string; password: string }
  /** Of the server's configuration; absent: one node. */
  cluster?: string
  /** Milliseconds for one request, five minutes unless told; a replay's INSERT ... SELECT may take long. */
  requestTimeoutMs?: number
  /** Sockets, 16 unless told. */
  connections?: number
}

export interface ClickHouse {
  database: string
  cluster?: string
  /** The client itself, for inserts and commands. */
  client: ClickHouseClient
  /**
   * Rows of a SELECT; 64-bit and wider integers come as strings. `name` is the endpoint or projection that asks, sent
   * as `log_comment`. Values go in as typed parameters, `{vault:String}`.
   */
  query<Row>(name: string, sql: string, params?: Record<string, unknown>): Promise<Row[]>
  /** A statement without result rows; waits for it. */
  command(name: string, sql: string, params?: Record<string, unknown>): Promise<void>
  /** The same server, another database; to be closed by itself. */
  in(database: string): ClickHouse
  close(): Promise<void>
}

const databases = new WeakMap<ClickHouseClient, string>()
const onClusters = new WeakSet<ClickHouseClient>()

/** Whether a client's tables lie on the shards of a cluster. */
export const isOnCluster = (client: ClickHouseClient): boolean => onClusters.has(client)

/**
 * Whether a server that was killed may know an insert's deduplication token and lack its rows: it notes the one before it puts the
 * other in place. Replicated tables do both at once, in Keeper.
 */
export const mayLackRows = (client: ClickHouseClient): boolean => !isOnCluster(client)

/** The database in which a client's statements are carried out. */
export function databaseOf(client: ClickHouseClient): string {
  const database = databases.get(client)
  if (database === undefined) throw new TypeError('a client of openClickHouse is needed')
  return database
}

/**
 * The one place where the client is configured. ClickHouse from 25.8 on writes wide integers as bare JSON numbers,
 * which JavaScript rounds: a UInt256 came back as 1.157920892373162e+77.
 */
export function openClickHouse(options: ClickHouseOptions): ClickHouse {
  const url = new URL(options.url)
  if (options.readonly) {
    // The client prefers the user and password of the URL to those of its options.
    url.username = ''
    url.password = ''
  }
  const client = createClient({
    url: url.href,
    database: options.database,
    ...(options.readonly ? { username: options.readonly.user, password: options.readonly.password } : {}),
    application: 'vaultlog',
    request_timeout: options.requestTimeoutMs ?? 300_000,
    max_open_connections: options.connections ?? 16,
    // Whoever calls gets the error; the client would print it as well, in a format of its own.
    log: { level: ClickHouseLogLevel.OFF },
    // Below the server's own keep-alive, so that it is never the server that closes first.
    keep_alive: { enabled: true, idle_socket_ttl: 2_500 },
    clickhouse_settings: {
      output_format_json_quote_64bit_integers: 1,
      output_format_json_quote_decimals: 1,
      // A read-only user has them of its profile.
      ...(options.readonly ? {} : EVERY_PARTNER),
      ...(options.cluster ? CLUSTER_SETTINGS : {}),
    },
  })
  if (options.cluster) {
    const query = client.query.bind(client)
    client.query = (params => query({ ...params, query: acrossShards(params.query) })) as typeof client.query
    onClusters.add(client)
  }
  databases.set(client, options.database)
  return {
    database: options.database,
    cluster: options.cluster,
    client,
    async query<Row>(name: string, sql: string, params: Record<string, unknown> = {}): Promise<Row[]> {
      const result = await client.query({
        query: sql,
        query_params: params,
        format: 'JSONEachRow',
        clickhouse_settings: { log_comment: name },
      })
      return result.json<Row>()
    },
    async command(name, sql, params = {}) {
      await client.command({ query: sql, query_params: params, clickhouse_settings: { log_comment: name } })
    },
    in: database => openClickHouse({ ...options, database }),
    close: () => client.close(),
  }
}
