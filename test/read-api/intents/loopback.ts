import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a service does in place of answering. `lost`: it does what it was asked, and the connection breaks before the answer. */
export type Fault = 'none' | '429' | '500' | '401' | 'hang' | 'shape' | 'text' | 'long' | 'lost' | 'redirect'

export interface Call {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: unknown
}

export interface Answer {
  status: number
  body: unknown
}

/** A service on this machine. `respond` throws for a request that its description does not allow. */
export async function startLoopback(respond: (call: Call) => Answer | Promise<Answer>) {
  const calls: Call[] = []
  const broken: unknown[] = []
  let fault: { kind: Fault; path: RegExp } = { kind: 'none', path: /./ }

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const { pathname: path } = new URL(request.url ?? '/', 'http://localhost')
    const call: Call = {
      method: request.method ?? '',
      path,
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
    calls.push(call)
    const kind = fault.path.test(path) ? fault.kind : 'none'
    const send = (status: number, body: string, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
    if (kind === 'hang') return
    if (kind === '429')
      return send(429, '{"code":"TOO_MANY_REQUESTS","message":"slow down"}', { 'retry-after': '17' })
    if (kind === '500') return send(500, '{"code":"INTERNAL_ERROR","message":"a secret of theirs"}')
    if (kind === '401') return send(401, '{"code":"UNAUTHORIZED","message":"a secret of theirs"}')
    if (kind === 'shape') return send(200, '{"routes":[{"intentId":7}],"quoteType":"other","success":"yes"}')
    if (kind === 'text') return send(200, '<html>')
    if (kind === 'long') return send(200, `{"filler":"${'x'.repeat(3 * 1024 * 1024)}"}`)
    if (kind === 'redirect') return send(302, '', { location: 'http://127.0.0.1:1/' })
    const { status, body } = await respond(call)
    if (kind === 'lost') return response.destroy()
    return send(status, JSON.stringify(body))
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      broken.push(error)
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ code: 'VALIDATION_ERROR', message: String(error) }))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    /** Requests that the description does not allow. */
    broken,
    fail(kind: Fault, path: RegExp = /./) {
      fault = { kind, path }
    },
    stop: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export type Loopback = Awaited<ReturnType<typeof startLoopback>>
