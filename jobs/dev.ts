import { startEmbedded } from '../db/embedded/up.ts'
import { networks } from '../db/networks.ts'
import { API_FLAGS } from '../db/process/api-command.ts'
import { readEnv } from '../db/process/env.ts'
import { VaultlogError } from '../db/process/errors.ts'
import { log } from '../db/process/log.ts'
import { scriptOf } from '../db/process/script.ts'
import { onShutdown, shutdown } from '../db/process/shutdown.ts'
import { FACTS, readFacts, recordFacts } from '../db/registry/registry.ts'
import { openStores } from '../db/stores.ts'
import { SOLANA } from '../db/streams.ts'
import { dealt } from './process-groups.ts'
import { type ProcessSpec, supervise } from './supervisor.ts'
import { refuseTakenPorts } from './taken-ports.ts'

/** Everything on one machine: what has no URL embedded, processors of the enabled networks, worker, API, GraphQL. */
async function main(): Promise<void> {
  const env = readEnv()
  const evm = Object.values(networks)
    .map(({ name }) => name)
    .filter(name => env.rpc[name] || env.portal[name] || env.gateway[name])
  const groups = [
    ...dealt(evm, env.PROCESSOR_PROCESSES),
    ...(env.RPC_SOLANA || env.PORTAL_SOLANA ? [[SOLANA.name]] : []),
  ]
  const enabled = groups.flat()
  await refuseTakenPorts(env, {
    command: 'npm run dev',
    networks: groups.flatMap(([first]) => first ?? []),
    databases: false,
    said: process.env,
  })
  const embedded = await startEmbedded(env)
  onShutdown('databases', () => embedded.stop())
  const urls = { DATABASE_URL: embedded.databaseUrl, CLICKHOUSE_URL: embedded.clickhouseUrl }
  const graphql = embedded.graphqlDatabaseUrl ? { GRAPHQL_DATABASE_URL: embedded.graphqlDatabaseUrl } : {}
  const stores = await openStores({ ...env, ...urls }, 'dev')
  const facts = await recordFacts(stores.pool, await readFacts(FACTS), Math.floor(Date.now() / 1000))
  if (facts > 0) log.info({ facts }, 'registry of curated facts recorded')
  await stores.close()

  if (enabled.length === 0) {
    log.warn(
      'no network is enabled: set RPC_<NETWORK> or PORTAL_<NETWORK> (see .env.example), or try npm run demo',
    )
  }
  const specs: ProcessSpec[] = [
    ...groups.map(names => ({
      name: names.join(','),
      args: [scriptOf('processors/main'), ...names],
      env: urls,
    })),
    { name: 'worker', args: [scriptOf('jobs/main')], env: urls },
    { name: 'api', args: [...API_FLAGS, scriptOf('read-api/main')], env: urls },
    { name: 'graphql', args: [scriptOf('db/graphql')], env: { ...urls, ...graphql } },
  ]
  // Their output comes here by pipes, whoever reads it.
  if (env.LOG_FORMAT === 'auto' && process.stdout.isTTY) {
    for (const spec of specs)
      spec.env = {
        LOG_FORMAT: 'pretty',
        ...(process.env['NO_COLOR'] ? {} : { FORCE_COLOR: '1' }),
        ...spec.env,
      }
  }
  const processes = supervise(specs, line => process.stdout.write(`${line}\n`))
  onShutdown('processes', () => processes.stop())
  log.info(
    {
      api: `http://127.0.0.1:${env.API_PORT}`,
      graphql: `http://127.0.0.1:${env.GRAPHQL_PORT}/graphql`,
      networks: enabled,
    },
    'running; Ctrl-C stops everything',
  )
}

main().catch(error => {
  if (error instanceof VaultlogError) log.fatal({ code: error.code }, error.message)
  else log.fatal({ err: error }, 'could not start')
  void shutdown('failed', 1)
})
