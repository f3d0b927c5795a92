import type { Socket } from 'node:net'
import pg from 'pg'
import { log } from './process/log.ts'

/** Milliseconds without a byte either way, amid a statement, after which the server is asked about it. */
const SILENCE_MS = 15_000

/** The longest that opening a connection may take: one that is accepted and then left without a word would never end. */
const HANDSHAKE_MS = 15_000

/** How long the server may be asked whether it works on a statement. */
const LOOK_MS = 10_000

/** What `pg` does not declare of a client. */
interface Inside {
  /** False while a statement is under way. */
  readyForQuery: boolean
  connection: { stream: Socket }
}

/** A client that gives up where the server takes the connection and never says a word. */
export class PatientClient extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    super({ ...config, connectionTimeoutMillis: config.connectionTimeoutMillis ?? HANDSHAKE_MS })
  }
}

/**
 * Made for `onConnect` of a pool: a server that is gone without a word is noticed, and a client by the server, which holds its locks until
 * then. How long a statement takes decides nothing.
 */
export async function watchConnection(client: pg.ClientBase, url: string): Promise<void> {
  // What a single query may take is not in its type. A pooler in between tells clients another process than the server's.
  const hello: pg.QueryConfig & { query_timeout: number } = {
    text: `SELECT pg_backend_pid() AS pid, set_config('tcp_keepalives_idle', '10', false),
      set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)`,
    query_timeout: HANDSHAKE_MS,
  }
  const { rows } = await client.query<{ pid: number }>(hello)
  if (rows[0]) endIfLost(client, rows[0].pid, url)
}

/**
 * Ends a connection over which no answer will come: one that a NAT, a proxy or a failed-over server has forgotten without closing it. TCP
 * alone takes a quarter of an hour, and behind a proxy that stays up it never does. Where nothing has passed for a while amid
 * a statement, the server is asked over another connection; if it works on none, the statement fails as with any lost connection.
 */
function endIfLost(client: pg.ClientBase, pid: number, url: string): void {
  const inside = client as unknown as Inside
  const socket = inside.connection.stream
  const passed = () => socket.bytesRead + socket.bytesWritten
  /** What is not read because its reader is slow is no silence of the server's. */
  const isWaiting = () => !inside.readyForQuery && !socket.isPaused() && socket.readableLength === 0
  const look = async () => {
    const before = passed()
    const isLost = isWaiting() && !(await isAtWork(pid, url))
    if (isLost && isWaiting() && passed() === before)
      socket.destroy(
        new Error('Connection terminated: Postgres works on no statement of it, and no answer came'),
      )
  }
  socket.on('timeout', () => {
    look()
      .catch((error: Error) =>
        log.debug({ error: error.message }, 'Postgres could not be asked about a statement'),
      )
      .finally(() => socket.setTimeout(SILENCE_MS))
  })
  socket.setTimeout(SILENCE_MS)
}

/** Whether a process of the server is at a statement, or was a moment ago: its answer may be under way. */
async function isAtWork(pid: number, url: string): Promise<boolean> {
  const asking = new PatientClient({
    connectionString: url,
    application_name: 'vaultlog-lost-connection',
    connectionTimeoutMillis: LOOK_MS,
    query_timeout: LOOK_MS,
  })
  asking.on('error', () => {})
  try {
    await asking.connect()
    // Amid a COPY the server waits for its client: all of it was sent long ago.
    const { rows } = await asking.query(
      `SELECT FROM pg_stat_activity WHERE pid = $1 AND (state = 'disabled'
         OR state = 'active' AND wait_event IS DISTINCT FROM 'ClientRead' OR state_change > now() - interval '5 seconds')`,
      [pid],
    )
    return rows.length > 0
  } finally {
    // Its farewell may get no answer either.
    asking.end().catch(() => {})
  }
}
