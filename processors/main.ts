import { registerStream } from '../db/events/event-store.ts'
import { reinstateChain } from '../db/events/retire.ts'
import { type Network, networkIds, networks } from '../db/networks.ts'
import { readEnv } from '../db/process/env.ts'
import { ConfigError, VaultlogError } from '../db/process/errors.ts'
import { log } from '../db/process/log.ts'
import { serveMetrics } from '../db/process/metrics.ts'
import { onShutdown, shutdown } from '../db/process/shutdown.ts'
import { listedVaults } from '../db/registry/check.ts'
import { followContractsFile, IGNORED } from '../db/registry/ignored.ts'
import { readFacts } from '../db/registry/registry.ts'
import { openEventStore } from '../db/stores.ts'
import { SOLANA } from '../db/streams.ts'
import { MIRROR, openWakeUps } from '../db/wake-ups.ts'
import { runChain } from './chain-processor.ts'
import { recheckNext, startRecheck } from './checking/recheck.ts'
import { configuredContracts } from './knowledge/contracts-file.ts'
import { loadProtocols } from './load-protocols.ts'
import { configuredPortal } from './source/configured-portal.ts'
import { runSolana } from './svm/main.ts'

async function main(): Promise<void> {
  const env = readEnv()
  if (process.argv[2] === SOLANA.name) return runSolana(env)
  const network: Network | undefined = Object.values(networks).find(({ name }) => name === process.argv[2])
  if (!network) {
    throw new ConfigError(
      `Usage: processors/main.ts <network>, one of ${[...Object.keys(networks), SOLANA.name].join(', ')}.`,
    )
  }
  const rpc = env.rpc[network.name]
  const gateway = env.gateway[network.name]
  if (!rpc && !gateway && !env.portal[network.name]) {
    log.info({ network: network.name }, 'not enabled: neither RPC nor Portal nor gateway is configured')
    return
  }
  if (env.PROCESSOR_METRICS_PORT !== 'off') {
    const metrics = await serveMetrics({
      host: env.METRICS_HOST,
      port: env.PROCESSOR_METRICS_PORT + networkIds.findIndex(({ name }) => name === network.name),
      what: `the processor of ${network.name}`,
      setting: 'PROCESSOR_METRICS_PORT',
    })
    onShutdown('metrics', () => metrics.close())
  }
  const contracts = await configuredContracts(env.CONTRACTS_FILE, network.name)
  const stores = await openEventStore(env, `processor-${network.name}`)
  const wakeUps = openWakeUps({
    REDIS_URL: env.REDIS_URL,
    REDIS_PREFIX: env.REDIS_PREFIX,
    databaseUrl: stores.env.DATABASE_URL,
  })
  const stop = new AbortController()
  await registerStream(stores.pool, network.chainId, network.name, 'evm')
  await reinstateChain(stores.pool, network.chainId)
  await followContractsFile(stores.pool, network.chainId, contracts?.[IGNORED] ?? [])

  const done = runChain({
    network,
    protocols: await loadProtocols(),
    pool: stores.pool,
    rpcUrls: rpc ?? [],
    portal: configuredPortal(
      network,
      { urls: env.portal[network.name], apiKey: env.portalKey[network.name] ?? env.PORTAL_API_KEY },
      stop.signal,
    ),
    gateway,
    contracts,
    listedVaults: listedVaults(await readFacts(), network.chainId),
    startBlock: env.startBlock[network.name],
    finality: env.finality[network.name],
    pollInterval: env.POLL_INTERVAL_MS,
    headLooks: env.headLooks[network.name],
    samples: env.SAMPLES,
    inspectionsPerHour: env.INSPECTIONS_PER_HOUR,
    logsPerDay: env.LOGS_PER_DAY,
    samplesPerHour: env.SAMPLES_PER_HOUR,
    signal: stop.signal,
    onCommit: ({ head, appended, retracted }) => {
      if (appended + retracted === 0) return
      // Nothing waits for the queue: what a wake-up would have said, the cursors say too.
      wakeUps
        .add([{ projection: MIRROR, stream: network.chainId, to: head }])
        .catch((error: Error) =>
          log.warn({ error: error.message }, 'worker could not be woken; it will look by itself'),
        )
    },
  })
  // Another endpoint than the preferred one knows better what that one left out.
  const recheck = startRecheck(rpc ? env.RECHECK_MINUTES : 0, () =>
    recheckNext(stores.pool, network, [...(rpc ?? [])].reverse(), env),
  )
  onShutdown('processor', async () => {
    stop.abort()
    await recheck.stop()
    await done.catch(() => {})
    await wakeUps.close()
    await stores.close()
  })
  await done
  await shutdown('end of chain reached')
}

main().catch(error => {
  if (error instanceof VaultlogError) log.fatal({ code: error.code }, error.message)
  else log.fatal({ err: error }, 'processor failed')
  void shutdown('failed', 1)
})
