import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { readEnv } from './process/env.ts'
import { onShutdown } from './process/shutdown.ts'
import { openStores } from './stores.ts'

/** GraphQL over the raw events: @subsquid/graphql-server, told where schema and database are. */
const stores = await openStores(readEnv(), 'graphql', 1)
const server = createRequire(import.meta.url).resolve('@subsquid/graphql-server/bin/run.js')
const child = spawn(
  process.execPath,
  [server, '--no-squid-status', '--sql-statement-timeout', '30000', '--max-response-size', '100000'],
  {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { ...process.env, DB_URL: stores.env.DATABASE_URL, GQL_PORT: String(stores.env.GRAPHQL_PORT) },
    stdio: 'inherit',
  },
)
const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
onShutdown('graphql', async () => {
  child.kill('SIGTERM')
  await ended
  await stores.close()
})
process.exitCode = (await ended) ?? 0
