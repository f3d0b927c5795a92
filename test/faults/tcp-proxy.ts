import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  /** The server's, by way of the proxy. */
  url: string
  /** Milliseconds that each message towards the server is held back. */
  delay: number
  /** Answers of the server are lost, and the connection with them. */
  losesAnswers: boolean
  /** New connections are taken, and nothing passes over them. */
  isSilent: boolean
  /** Nothing passes any more over the connections that there are, which stay open; new ones are as before. */
  hush(): void
  stop(): Promise<void>
}

/** For URLs that name no port. */
const DEFAULT_PORTS: Record<string, number> = { 'redis:': 6379, 'postgres:': 5432, 'postgresql:': 5432 }

/** Stands before the server of a URL: passes bytes on, later when told so. Connections are slow one by one, not in a queue. */
export async function startTcpProxy(url: string): Promise<TcpProxy> {
  const target = new URL(url)
  const host = target.hostname
  const port = Number(target.port) || (DEFAULT_PORTS[target.protocol] ?? 0)
  const sockets = new Set<Socket>()
  const proxy = { url: '', delay: 0, losesAnswers: false, isSilent: false }
  const hushed = new Set<Socket>()
  const server = createServer(client => {
    if (proxy.isSilent) {
      sockets.add(client)
      client.on('error', () => {})
      client.on('close', () => sockets.delete(client))
      client.resume()
      return
    }
    const upstream = connect(port, host)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    upstream.on('data', () => {
      if (proxy.losesAnswers) client.destroy()
    })
    upstream.pipe(client)
    client.on('data', chunk => {
      client.pause()
      setTimeout(() => {
        if (hushed.has(client)) return
        upstream.write(chunk)
        client.resume()
      }, proxy.delay)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  target.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  proxy.url = target.href
  return Object.assign(proxy, {
    hush() {
      for (const socket of sockets) {
        hushed.add(socket)
        socket.unpipe()
        // What comes is lost, and that an end is there is still seen.
        socket.resume()
      }
    },
    stop: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  })
}
