import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { inject, vi } from 'vitest'
import { freePort } from '../chain/anvil-process.ts'

export interface GraphqlServer {
  url: string
  ask(query: string): Promise<Response>
  stop(): Promise<void>
}

/** The GraphQL server as a process of its own, with these settings. */
export async function serveGraphql(settings: Record<string, string | undefined>): Promise<GraphqlServer> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/graphql`
  const server = spawn(process.execPath, ['--import', 'tsx', 'db/graphql.ts'], {
    cwd: join(import.meta.dirname, '../..'),
    env: {
      ...process.env,
      CLICKHOUSE_URL: inject('clickhouseUrl'),
      CLICKHOUSE_DATABASE: 'vaultlog_test_graphql',
      GRAPHQL_PORT: String(port),
      ...settings,
    },
    stdio: 'ignore',
  })
  const ended = once(server, 'exit')
  await vi.waitFor(() => fetch(url), { timeout: 180_000, interval: 100 })
  return {
    url,
    ask: query =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      }),
    async stop() {
      server.kill('SIGTERM')
      await ended
    },
  }
}
