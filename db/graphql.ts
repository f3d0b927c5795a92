import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isPortTaken } from './embedded/ports.ts'
import { readEnv } from './process/env.ts'
import { PortInUseError, VaultlogError } from './process/errors.ts'
import { FOLLOW_PARENT } from './process/follow-parent.ts'
import { log } from './process/log.ts'
import { LOADER, moduleUrl } from './process/script.ts'
import { onShutdown, shutdown } from './process/shutdown.ts'
import { openEventStore } from './stores.ts'

/** GraphQL over the raw events: @subsquid/graphql-server, told where schema and database are. */
async function main(): Promise<void> {
  const env = readEnv()
  // The server itself would end in a stack trace.
  if (await isPortTaken(env.GRAPHQL_PORT))
    throw new PortInUseError(env.GRAPHQL_PORT, 'GraphQL', 'GRAPHQL_PORT')
  const stores = await openEventStore(env, 'graphql', 1)
  const server = createRequire(import.meta.url).resolve('@subsquid/graphql-server/bin/run.js')
  const child = spawn(
    process.execPath,
    [
      ...FOLLOW_PARENT,
      ...LOADER,
      '--import',
      moduleUrl('db/graphql-guard'),
      server,
      '--no-squid-status',
      '--sql-statement-timeout',
      '10000',
      '--max-root-fields',
      '5',
      '--max-response-size',
      '100000',
      // Queries that clients ask to be kept are kept without bounds otherwise. Of answers, which it is named for, none is kept.
      '--dumb-cache',
      'in-memory',
      '--dumb-cache-size',
      '8',
      '--dumb-cache-ttl',
      '3600000',
      '--dumb-cache-max-age',
      '0',
    ],
    {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      env: {
        ...process.env,
        // Otherwise errors carry stack traces, with paths.
        NODE_ENV: 'production',
        DB_URL:
          env.GRAPHQL_DATABASE_URL ??
          env.DATABASE_READ_URL ??
          stores.env.GRAPHQL_DATABASE_URL ??
          stores.env.DATABASE_URL,
        GQL_PORT: String(stores.env.GRAPHQL_PORT),
        GRAPHQL_HOST: stores.env.GRAPHQL_HOST,
      },
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    },
  )
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  onShutdown('graphql', async () => {
    child.kill('SIGTERM')
    await ended
    await stores.close()
  })
  await shutdown('the server ended', (await ended) ?? 1)
}

main().catch(error => {
  if (error instanceof VaultlogError) log.fatal({ code: error.code }, error.message)
  else log.fatal({ err: error }, 'could not start')
  void shutdown('failed', 1)
})
