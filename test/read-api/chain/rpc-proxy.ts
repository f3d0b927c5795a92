import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `ok` passes on; `fail` answers 500; `hang` never answers; `nonsense` answers something else; `limited`: 429. */
export type ProxyMode = 'ok' | 'fail' | 'hang' | 'nonsense' | 'limited'

interface Call {
  id?: unknown
  method: string
  params?: unknown
}

/** Stands before a node: passes requests on after a delay, counts them, and can be made to fail, to refuse some calls, or to answer otherwise. */
export async function startRpcProxy(
  target: string,
  delayMs = 0,
  refuses?: (call: Call) => boolean,
  rewrites: (answer: string) => string = answer => answer,
) {
  let mode: ProxyMode = 'ok'
  let delay = delayMs
  let requests = 0
  const asked: string[][] = []
  const calls: Call[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    requests++
    const all = [JSON.parse(body) as Call | Call[]].flat()
    asked.push(all.map(({ method }) => method))
    calls.push(...all)
    if (mode === 'hang') return
    await new Promise(resolve => setTimeout(resolve, delay))
    if (mode === 'fail') return void response.writeHead(500).end('no')
    if (mode === 'limited') return void response.writeHead(429).end('slow down')
    if (mode === 'nonsense') return void response.writeHead(200).end('<html>')
    const answer = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    let text = rewrites(await answer.text())
    const refused = new Set(all.filter(call => refuses?.(call)).map(({ id }) => id))
    if (refused.size > 0) {
      const error = { code: -32000, message: 'missing trie node 5af1 (path )' }
      const answers = [JSON.parse(text) as Call | Call[]]
        .flat()
        .map(one => (refused.has(one.id) ? { jsonrpc: '2.0', id: one.id, error } : one))
      text = JSON.stringify(body.startsWith('[') ? answers : answers[0])
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests
    },
    /** Methods by request: of one call or of a batch. */
    asked,
    calls,
    set(next: ProxyMode) {
      mode = next
    },
    delay(ms: number) {
      delay = ms
    },
    stop: () =>
      new Promise(resolve => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}

export type RpcProxy = Awaited<ReturnType<typeof startRpcProxy>>
