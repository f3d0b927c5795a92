import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'

/** What the bench tells this process to do: the other end of its streams and webhooks, apart from what writes. */
export type Order =
  | { kind: 'follow'; port: number; key: string; count: number }
  /** Stops taking notes, and reports what came. */
  | { kind: 'told' }

/** Positions of messages and when each came, milliseconds since 1970, one after the other. */
export interface Told {
  streams: number[]
  webhooks: number[]
}

const now = () => performance.timeOrigin + performance.now()
let told: Told = { streams: [], webhooks: [] }

/** One who follows mainnet. Settles when the stream has begun. */
function follow(port: number, key: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('error', reject)
    socket.write(
      `GET /beta/feed?networks=mainnet HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\naccept: text/event-stream\r\n\r\n`,
    )
    let rest = ''
    socket.on('data', chunk => {
      const at = now()
      rest += chunk.toString('latin1')
      if (rest.includes('event: position\n')) resolve()
      for (const [, position] of rest.matchAll(/^id: 1\.(\d+)\S*\nevent: event\n/gm))
        told.streams.push(Number(position), at)
      // The head of a message may be cut in two; its data are longer than that.
      rest = rest.slice(rest.lastIndexOf('\n\n') + 1)
    })
    socket.once('close', () => process.exit(1))
  })
}

const hooks = createServer(async (request, response) => {
  const at = now()
  const body = await text(request)
  response.writeHead(204).end()
  told.webhooks.push((JSON.parse(body) as { position: number }).position, at)
}).listen(0, '127.0.0.1', () => process.send?.({ port: (hooks.address() as AddressInfo).port }))
hooks.keepAliveTimeout = 60_000

process.on('message', async (order: Order) => {
  if (order.kind === 'told') {
    process.send?.(told)
    told = { streams: [], webhooks: [] }
    return
  }
  // Not all at once: a listener has room for so many who wait.
  for (let i = 0; i < order.count; i += 50)
    await Promise.all(
      Array.from({ length: Math.min(50, order.count - i) }, () => follow(order.port, order.key)),
    )
  process.send?.({ following: order.count })
})
process.once('disconnect', () => process.exit(0))
