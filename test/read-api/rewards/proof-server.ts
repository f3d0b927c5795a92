import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A service that keeps proofs: answers a path with what it was told, JSON or a status. */
export async function startProofServer() {
  const answers = new Map<string, unknown>()
  let delayMs = 0
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    asked.push(request.url ?? '')
    setTimeout(() => {
      const answer = answers.get(path)
      if (typeof answer === 'number') response.writeHead(answer).end()
      else if (answer === undefined) response.writeHead(404).end()
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    }, delayMs)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    asked,
    slow(ms: number) {
      delayMs = ms
    },
    stop: () =>
      new Promise(resolve => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}
