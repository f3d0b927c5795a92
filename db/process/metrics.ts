import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Counter, collectDefaultMetrics, type Gauge, Registry } from 'prom-client'
import { PortInUseError } from './errors.ts'
import { log } from './log.ts'
import { within } from './within.ts'

/** Every metric of this process. docs/operations.md lists them all, with units; a test holds the two together. */
export const registry = new Registry()

const scrapeFailures = new Counter({
  name: 'vaultlog_scrape_failures_total',
  help: 'Readings for a scrape that failed or took too long; their gauges are absent from that scrape',
  registers: [registry],
})

/** A database that has not answered by then is left out of the scrape: Prometheus gives up after 10 s. */
const PATIENCE_MS = 4_000

interface Reading {
  gauges: readonly Gauge<string>[]
  read: () => Promise<() => void> | (() => void)
}
const readings: Reading[] = []

/**
 * Gauges that are read when somebody scrapes. `read` fetches and gives a function that sets them; before it is called
 * they are emptied, so that what is gone is not told for ever. When reading fails they stay empty: unknown is not zero.
 */
export function onScrape(gauges: readonly Gauge<string>[], read: Reading['read']): void {
  readings.push({ gauges, read })
}

async function readAll(): Promise<void> {
  await Promise.all(
    readings.map(async ({ gauges, read }) => {
      let set: (() => void) | undefined
      try {
        set = await within(
          { ms: PATIENCE_MS },
          async () => read(),
          () => {
            log.warn({ ms: PATIENCE_MS }, 'metrics: a database did not answer in time')
            return undefined
          },
        )
      } catch (error) {
        log.warn({ error: (error as Error).message }, 'metrics: could not be read')
      }
      for (const gauge of gauges) gauge.reset()
      if (set) set()
      else scrapeFailures.inc()
    }),
  )
}

export interface MetricsServer {
  port: number
  close(): Promise<void>
}

/**
 * Serves `/metrics` in the text format of Prometheus and `/live` (200 as long as the process answers at all; it does
 * not look at databases, since a restart would not mend them). `setting`: the variable that the port comes from.
 *
 * @throws PortInUseError
 */
export async function serveMetrics(options: {
  port: number
  /** All addresses of the machine unless told. */
  host?: string
  what: string
  setting: string
}): Promise<MetricsServer> {
  const { port, host, what, setting } = options
  collectDefaultMetrics({ register: registry })
  const server = createServer(async (request, response) => {
    const path = request.url?.split('?')[0]
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end()
    } else if (path === '/live') {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n')
    } else if (path === '/metrics') {
      try {
        await readAll()
        const text = await registry.metrics()
        response.writeHead(200, { 'content-type': registry.contentType }).end(text)
      } catch (error) {
        log.error({ err: error }, 'metrics: could not be written')
        response.writeHead(500).end()
      }
    } else {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('There are /metrics and /live.\n')
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE' ? new PortInUseError(port, `the metrics of ${what}`, setting) : error,
      ),
    )
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
