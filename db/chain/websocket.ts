import { getWebSocketRpcClient } from 'viem/utils'
import { within } from '../process/within.ts'
import { type Answer, type Call, NoAnswerError, type Send, said, tooLong } from './transport.ts'

type Client = Awaited<ReturnType<typeof getWebSocketRpcClient>>

interface Connection {
  client: Client
  /** When a message came last. Milliseconds, as performance.now() has them. */
  heardAt: number
}

/** A node that takes longer to open a connection is asked for another one. Milliseconds. */
const HANDSHAKE = 30_000

/** The connection to each URL, open or about to be. */
const connections = new Map<string, Promise<Connection>>()

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
  let opened: { connection: Connection; opening: Promise<Connection> } | undefined
  try {
    const opening = connectionTo(url)
    const connection = await within(
      { ms: timeoutMs },
      () => opening,
      () => {
        throw late()
      },
    )
    opened = { connection, opening }
    const answer = await connection.client.requestAsync({
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
    if (opened && (!isLate || opened.connection.heardAt < startedAt)) leave(url, opened)
    if (isLate) throw late(error)
    const { details, message } = error as Error & { details?: string }
    throw new NoAnswerError((details ?? message ?? '').split('\n')[0] ?? '', { isGone: true }, error)
  }
}

function connectionTo(url: string): Promise<Connection> {
  const known = connections.get(url)
  if (known) return known
  const opening = open(url)
  connections.set(url, opening)
  const timer = setTimeout(() => forget(url, opening), HANDSHAKE).unref()
  opening.then(
    connection => {
      clearTimeout(timer)
      const both = { connection, opening }
      if (connections.get(url) !== opening) connection.client.close()
      else connection.client.socket.addEventListener('close', () => leave(url, both))
    },
    () => {
      clearTimeout(timer)
      forget(url, opening)
    },
  )
  return opening
}

async function open(url: string): Promise<Connection> {
  // Left to itself viem opens a lost connection five times at most, after 2 s and then at its pings, and prints the URL, with the key in it,
  // where that fails.
  const client = await getWebSocketRpcClient(url, { keepAlive: true, reconnect: false })
  const connection = { client, heardAt: performance.now() }
  client.socket.addEventListener('message', () => {
    connection.heardAt = performance.now()
  })
  return connection
}

/** What others wait for over it fails at once. */
function leave(
  url: string,
  { connection, opening }: { connection: Connection; opening: Promise<Connection> },
): void {
  if (forget(url, opening)) connection.client.close()
}

const forget = (url: string, opening: Promise<Connection>) =>
  connections.get(url) === opening && connections.delete(url)
