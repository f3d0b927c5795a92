import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Stage } from './bench.ts'

interface Asked {
  method: string
  params?: unknown[]
}

/** Passes requests on to a node and counts them, each of a batch; looks at the head by themselves. */
export async function startCounter(stage: Stage, target: string) {
  const counted = new Map<string, number>()
  let gate: Promise<void> | undefined
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    await gate
    for (const { method, params } of [JSON.parse(body.toString()) as Asked | Asked[]].flat()) {
      const name = params?.[0] === 'latest' ? `${method} latest` : method
      counted.set(name, (counted.get(name) ?? 0) + 1)
    }
    const answer = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new Uint8Array(body),
    })
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stage.afterwards(async () => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counted,
    /** Nothing is passed on until this is done. */
    async holdWhile(work: () => Promise<void>): Promise<void> {
      gate = work()
      await gate.finally(() => {
        gate = undefined
      })
    },
    /** All of them since the last time. */
    take(): number {
      const sum = [...counted.values()].reduce((a, b) => a + b, 0)
      counted.clear()
      return sum
    },
  }
}
