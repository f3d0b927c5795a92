import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  request,
} from 'node:http'
import { duplexPair } from 'node:stream'
import type { ApiRequest } from './request.ts'

/** Whose request a tool's is: what key, payment and limits go by. */
export interface Caller {
  headers: IncomingHttpHeaders
  /** Of the connection, before any proxy is believed. */
  remoteAddress: string | undefined
}

export interface ApiAnswer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

export type AskApi = (asked: ApiRequest, caller: Caller, signal?: AbortSignal) => Promise<ApiAnswer>

/** Headers of the caller that the request inside has, too. */
const PASSED = [
  'host',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'payment-signature',
  'x-payment',
]

/** An address that moved once has moved at most so often. */
const MOST_MOVES = 3

/**
 * Asks an app as a caller outside would, over a pipe in memory: key, limits, credits, payment, log and answers are those of any request,
 * without a port and without a second way to any of them.
 */
export function createInProcess(app: RequestListener): AskApi {
  // It never listens: connections are handed to it.
  const server = createServer({ keepAliveTimeout: 1 }, app)

  const send = (asked: ApiRequest, caller: Caller, signal?: AbortSignal) =>
    new Promise<ApiAnswer>((resolve, reject) => {
      const [near, far] = duplexPair()
      // What Express makes `ip` of, with the proxies that it believes.
      Object.defineProperty(far, 'remoteAddress', { value: caller.remoteAddress })
      far.on('error', () => far.destroy())
      server.emit('connection', far)
      const outgoing = request(
        {
          createConnection: () => near as never,
          method: asked.method,
          path: asked.path,
          headers: headersFor(caller, asked.body),
          signal,
        },
        incoming => collect(incoming).then(resolve, reject),
      )
      outgoing.on('error', reject)
      outgoing.end(asked.body)
    })

  return async (asked, caller, signal) => {
    let at = asked
    for (let moves = 0; ; moves++) {
      const answer = await send(at, caller, signal)
      const { location } = answer.headers
      if (answer.status !== 308 || location === undefined || moves >= MOST_MOVES) return answer
      const to = new URL(location, `http://in.process${at.path}`)
      at = { ...at, path: `${to.pathname}${to.search}` }
    }
  }
}

function headersFor({ headers }: Caller, body: string | undefined): Record<string, string | string[]> {
  const passed = PASSED.flatMap((name): [string, string | string[]][] => {
    const value = headers[name]
    return value === undefined ? [] : [[name, value]]
  })
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const key = headers['x-api-key'] ?? bearer
  return {
    ...Object.fromEntries(passed),
    ...(key === undefined ? {} : { 'x-api-key': key }),
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
    connection: 'close',
  }
}

async function collect(incoming: IncomingMessage): Promise<ApiAnswer> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    text: Buffer.concat(chunks).toString('utf8'),
  }
}
