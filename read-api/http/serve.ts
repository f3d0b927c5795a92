import { randomUUID } from 'node:crypto'
import { createServer, type RequestListener, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { PortInUseError } from '../../db/process/errors.ts'
import { isToLoopback } from '../../db/process/loopback.ts'
import { notesOf } from './request-log.ts'

export interface Serving {
  port: number
  /** Takes no more connections, lets what is under way finish (`patienceMs` at most), closes. */
  close(): Promise<void>
}

export interface ServeOptions {
  port: number
  host?: string
  patienceMs?: number
  /** A request must have arrived in full by then. */
  requestTimeoutMs?: number
  /** An answer must have been made and taken by then: who reads it by the drop holds memory for it. */
  answerTimeoutMs?: number
}

/**
 * Listening on loopback, with no proxy before it, the operator's pages and the tools of agents are for names of this machine: a browser keeps the
 * operator's password by name, and a stranger's name can be made to lead here.
 */
export function atHome(
  app: RequestListener,
  { HOST, TRUST_PROXY }: { HOST: string; TRUST_PROXY?: string | number | undefined },
): RequestListener {
  if (!isToLoopback(HOST) || TRUST_PROXY !== undefined) return app
  return (request, response) => {
    if (!/^\/+(ops|mcp)(\/|\?|$)/i.test(request.url ?? '') || isToLoopback(request.headers.host))
      return app(request, response)
    response.writeHead(403, { 'content-type': 'text/plain', 'cache-control': 'no-store' })
    response.end('Ask by 127.0.0.1 or localhost.\n')
  }
}

/** The app behind a socket: time limits for slow callers, error bodies also for what is not HTTP, an orderly end. */
export async function serve(app: RequestListener, options: ServeOptions): Promise<Serving> {
  const requestTimeout = options.requestTimeoutMs ?? 30_000
  const server = createServer({
    requestTimeout,
    headersTimeout: Math.min(10_000, requestTimeout),
    // Address and headers together; they are read and parsed before anybody is known.
    maxHeaderSize: 16_384,
    // Longer than load balancers keep idle connections, so that they end them and not we, under a request.
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: Math.min(5_000, requestTimeout),
  })
  let isClosing = false
  const answerTimeout = options.answerTimeoutMs ?? 120_000
  server.on('request', (request, response) => {
    const impatience = setTimeout(() => {
      if (!notesOf(response).isLong) response.destroy()
    }, answerTimeout)
    response.once('close', () => clearTimeout(impatience))
    if (isClosing) response.setHeader('connection', 'close')
    app(request, response)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => answerRaw(error, socket))

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE' ? new PortInUseError(options.port, 'the read API', 'API_PORT') : error,
      ),
    )
    server.listen(options.port, options.host, resolve)
  })

  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      isClosing = true
      const closed = new Promise(resolve => server.close(resolve))
      // Connections that were busy when it began to close become idle one by one.
      const sweep = setInterval(() => server.closeIdleConnections(), 100)
      const impatience = setTimeout(() => server.closeAllConnections(), options.patienceMs ?? 5_000)
      server.closeIdleConnections()
      await closed
      clearInterval(sweep)
      clearTimeout(impatience)
    },
  }
}

/** What never became a request still gets an error body. */
function answerRaw(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'The address and headers of the request are too long: 16 kB at most.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'The request did not arrive in time.']
        : [400, 'This is not an HTTP request.']
  const phrase = STATUS_CODES[status as number] ?? 'Error'
  const errorId = randomUUID()
  const body = JSON.stringify({ statusCode: status, error: phrase, message, errorId })
  socket.end(
    `HTTP/1.1 ${status} ${phrase}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\nX-Request-Id: ${errorId}\r\nX-Credits-Used: 0\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
