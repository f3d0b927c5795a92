import { getWebSocketRpcClient } from 'viem/utils'
import { within } from '../process/within.ts'
import { type Answer, type Call, NoAnswerError, type Send, said, tooLong } from './transport.ts'

type Client = Awaited<ReturnType<typeof getWebSocketRpcClient>>

interface Connection {
  opening: Promise<Client>
  /** Absent until it is open. */
  client?: Client
  /** When a message came last. Milliseconds, as performance.now() has them. */
  heardAt: number
}

/** A node that takes longer to open a connection is asked for another one. Milliseconds. */
const HANDSHAKE = 30_000

/** The connection to each URL, open or about to be. */
const connections = new Map<string, Connection>()

/**
 * Calls of a WebSocket go one by one: there is nothing that a batch would save. A message comes whole, however long it is: one
 * that is too long is left aside, and the connection stays for what others asked over it. One that is lost, or over which nothing
 * comes any more, is left, and the next call opens another.
 */
export function sendByWebSocket(url: string): Send {
  return (calls, { timeoutMs, maxBytes }) =>
    Promise.all(calls.map(call => sendOne(url, call, { timeoutMs, maxBytes })))
}

async function sendOne(
  url: string,
  { method, params }: Call,
  { timeoutMs, maxBytes }: { timeoutMs: number; maxBytes: number },
): Promise<Answer> {
  const startedAt = performance.now()
  const late = (cause?: unknown) => new NoAnswerError(`no answer in ${timeoutMs} ms`, { isLate: true }, cause)
  const connection = connectionTo(url)
  try {
    const client = await within(
      { ms: timeoutMs },
      () => connection.opening,
      () => {
        throw late()
      },
    )
    const answer = await client.requestAsync({
      body: { method, params },
      timeout: Math.max(1, timeoutMs - (performance.now() - startedAt)),
    })
    const words: unknown[] = [answer.result, answer.error?.message, answer.error?.data]
    if (words.some(word => typeof word === 'string' && word.length > maxBytes)) throw tooLong(maxBytes)
    return answer.error ? { error: said.parse(answer.error) } : { result: answer.result }
  } catch (error) {
    if (error instanceof NoAnswerError) throw error
    const isLate = (error as Error).name === 'TimeoutError'
    // A slow node still answers others: where nothing came at all meanwhile, nobody may be at the other end.
    if (!isLate || connection.heardAt < startedAt) leave(url, connection)
    if (isLate) throw late(error)
    const { details, message } = error as Error & { details?: string }
    throw new NoAnswerError((details ?? message ?? '').split('\n')[0] ?? '', { isGone: true }, error)
  }
}

function connectionTo(url: string): Connection {
  const known = connections.get(url)
  if (known) return known
  // Left to itself viem opens a lost connection five times at most, after 2 s and then at its pings, and prints the URL, with the key in it,
  // where that fails.
  const opening = getWebSocketRpcClient(url, { keepAlive: true, reconnect: false })
  const connection: Connection = { opening, heardAt: Number.POSITIVE_INFINITY }
  connections.set(url, connection)
  const timer = setTimeout(() => leave(url, connection), HANDSHAKE).unref()
  const heard = () => {
    connection.heardAt = performance.now()
  }
  opening
    .then(client => {
      if (connections.get(url) !== connection) return client.close()
      connection.client = client
      heard()
      client.socket.addEventListener('message', heard)
      client.socket.addEventListener('close', () => leave(url, connection))
    })
    .catch(() => leave(url, connection))
    .finally(() => clearTimeout(timer))
  return connection
}

/** What others wait for over it fails at once: viem would give it to the next call too until it is closed. */
function leave(url: string, connection: Connection): void {
  if (connections.get(url) !== connection) return
  connections.delete(url)
  connection.client?.close()
}
