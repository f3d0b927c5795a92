import { connect } from 'node:net'

export interface Load {
  host?: string
  port: number
  path: string
  headers?: Record<string, string>
  connections: number
  seconds: number
  /** Requests per second, sent on time whether or not earlier ones were answered; absent: as fast as answers come. */
  rate?: number
}

export interface Measured {
  requests: number
  perSecond: number
  /** Milliseconds. */
  p50: number
  p99: number
  bytes: number
  statuses: Record<string, number>
}

/** Sends one request over and over on kept-alive sockets and counts the answers; cheap enough not to be what is measured. */
export async function measure(load: Load): Promise<Measured> {
  const { host = '127.0.0.1', port, path, headers = {}, connections, seconds, rate } = load
  const lines = Object.entries({ host: `${host}:${port}`, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  const request = `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
  const times: number[] = []
  const statuses: Record<string, number> = {}
  let bytes = 0
  let isOver = false
  const idle: (() => void)[] = []
  const due: number[] = []

  const open = () =>
    new Promise<() => void>((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true })
      let sentAt = 0
      let missing = -1
      let head = ''
      const send = () => {
        if (isOver) return socket.destroy()
        const at = rate === undefined ? performance.now() : due.shift()
        if (at === undefined) return idle.push(send)
        sentAt = at
        socket.write(request)
      }
      socket.on('data', chunk => {
        bytes += chunk.length
        let left = chunk.length
        if (missing < 0) {
          head += chunk.toString('latin1')
          const end = head.indexOf('\r\n\r\n')
          if (end < 0) return
          const status = head.slice(9, 12)
          statuses[status] = (statuses[status] ?? 0) + 1
          const length = /content-length: (\d+)/i.exec(head.slice(0, end))?.[1]
          if (length === undefined)
            return reject(new TypeError(`an answer without content-length: ${head.slice(0, end)}`))
          missing = Number(length)
          left = head.length - end - 4
        }
        missing -= left
        if (missing > 0) return
        times.push(performance.now() - sentAt)
        missing = -1
        head = ''
        send()
      })
      socket.once('connect', () => resolve(send))
      socket.once('error', reject)
    })

  const sends = await Promise.all(Array.from({ length: connections }, open))
  const startedAt = performance.now()
  for (const send of sends) send()
  let ticker: NodeJS.Timeout | undefined
  if (rate !== undefined) {
    let planned = 0
    ticker = setInterval(() => {
      while (startedAt + (planned * 1_000) / rate <= performance.now()) {
        due.push(startedAt + (planned++ * 1_000) / rate)
        idle.shift()?.()
      }
    }, 1)
  }
  await new Promise(resolve => setTimeout(resolve, seconds * 1_000))
  isOver = true
  clearInterval(ticker)
  for (const send of idle) send()
  const elapsed = (performance.now() - startedAt) / 1_000
  times.sort((a, b) => a - b)
  const at = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.NaN
  return {
    requests: times.length,
    perSecond: times.length / elapsed,
    p50: at(0.5),
    p99: at(0.99),
    bytes: bytes / Math.max(1, times.length),
    statuses,
  }
}
