import type pg from 'pg'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import { createKey } from '../db/keys/keys.ts'
import { API_COMMAND } from '../db/process/api-command.ts'
import { freePort } from '../test/chain/anvil-process.ts'
import { type Running, start } from '../test/faults/command.ts'
import type { Stage } from './bench.ts'

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
