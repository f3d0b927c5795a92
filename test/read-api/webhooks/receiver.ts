import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Received {
  headers: IncomingHttpHeaders
  body: string
}

/** Whoever is sent webhooks. `answer` says what it answers, or answers by itself. */
export async function receive(
  answer: (received: Received, response: ServerResponse) => number | undefined | Promise<number | undefined>,
  { host = '127.0.0.1', port = 0 } = {},
) {
  const server = createServer(async (request, response) => {
    try {
      const status = await answer({ headers: request.headers, body: await text(request) }, response)
      if (status !== undefined) response.writeHead(status).end('thanks')
    } catch {
      // Whoever sent it went away amid it.
      response.destroy()
    }
  })
  await new Promise<void>(resolve => server.listen(port, host, resolve))
  const { port: found } = server.address() as AddressInfo
  return {
    port: found,
    url: `http://${host}:${found}/hook`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
