import type pg from 'pg'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import { createKey } from '../db/keys/keys.ts'
import { API_COMMAND } from '../db/process/api-command.ts'
import { freePort } from '../test/chain/anvil-process.ts'
import { type Running, start } from '../test/faults/command.ts'
import { percentiles, type Stage, timed } from './bench.ts'

/** The read API in a process of its own over databases of the stage, with a key that nothing limits. */
export async function startApi(
  stage: Stage,
  { pool, url, clickhouse }: { pool: pg.Pool; url: string; clickhouse: ClickHouse },
  env: Record<string, string> = {},
): Promise<{ api: Running; port: number; key: string }> {
  const { key } = await createKey(pool, { name: 'bench', plan: 'unlimited' })
  const port = await freePort()
  const api = start(API_COMMAND, {
    DATABASE_URL: url,
    CLICKHOUSE_URL: stage.clickhouseUrl,
    CLICKHOUSE_DATABASE: clickhouse.database,
    API_PORT: String(port),
    API_METRICS_PORT: 'off',
    // No registry lists the vaults of a bench.
    SHOW_UNLISTED: 'true',
    NODE_ENV: 'production',
    ...env,
  })
  stage.afterwards(async () => {
    api.child.kill('SIGTERM')
    await api.ended
  })
  await api.until(/read API listening/)
  return { api, port, key }
}

const REQUESTS = 300
const WARM_UP = 20

/** Latency of a question for one client that sends requests one after the other, after some to warm up. */
export async function askOften(
  { port, key }: { port: number; key: string },
  path: (n: number) => string,
): Promise<{ p50: number; p99: number }> {
  const request = async (n: number) => {
    const response = await fetch(`http://127.0.0.1:${port}${path(n)}`, {
      // Another's entity tag: the answer is made anew, not sent again.
      headers: { 'x-api-key': key, 'if-none-match': 'W/"none"' },
    })
    const body = await response.text()
    if (!response.ok) throw new TypeError(`${path(n)}: ${response.status} ${body}`)
  }
  return latencyOf(request)
}

/** Of what is done often, one after the other, after some to warm up. Milliseconds. */
export async function latencyOf(
  once: (n: number) => Promise<unknown>,
): Promise<{ p50: number; p99: number }> {
  for (let i = 0; i < WARM_UP; i++) await once(REQUESTS + i)
  const sample: number[] = []
  for (let i = 0; i < REQUESTS; i++) sample.push((await timed(() => once(i))).ms)
  return percentiles(sample)
}
