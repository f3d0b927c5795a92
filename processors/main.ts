import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { registerStream } from '../db/events/event-store.ts'
import { reinstateChain } from '../db/events/retire.ts'
import { type Network, networkIds, networks } from '../db/networks.ts'
import { type Env, readEnv } from '../db/process/env.ts'
import { ConfigError, VaultlogError } from '../db/process/errors.ts'
import { log } from '../db/process/log.ts'
import { serveMetrics } from '../db/process/metrics.ts'
import { onShutdown, shutdown } from '../db/process/shutdown.ts'
import { listedVaults } from '../db/registry/check.ts'
import { followContractsFile, IGNORED } from '../db/registry/ignored.ts'
import { readFacts } from '../db/registry/registry.ts'
import { openEventStore } from '../db/stores.ts'
import { SOLANA } from '../db/streams.ts'
import { MIRROR, openWakeUps, type WakeUps } from '../db/wake-ups.ts'
import { runChain } from './chain-processor.ts'
import { recheckNext, startRecheck } from './checking/recheck.ts'
import { configuredContracts } from './knowledge/contracts-file.ts'
import { loadProtocols } from './load-protocols.ts'
import type { Protocol } from './protocol.ts'
import { configuredPortal } from './source/configured-portal.ts'
import { runSolana } from './svm/main.ts'

/** What the chains of one process share. */
interface Shared {
  env: Env
  pool: pg.Pool
  wakeUps: WakeUps
  protocols: readonly Protocol[]
  signal: AbortSignal
}

const USAGE = `Usage: processors/main.ts <network> [network ...], of ${Object.keys(networks).join(', ')}; or ${SOLANA.name} alone.`

async function main(): Promise<void> {
  const env = readEnv()
  const names = [...new Set(process.argv.slice(2))]
  if (names.length === 1 && names[0] === SOLANA.name) return runSolana(env)
  const named = names.map(name => Object.values(networks).find(network => network.name === name))
  if (named.length === 0 || named.includes(undefined)) throw new ConfigError(USAGE)
  const followed = named.filter(network => network !== undefined).filter(network => isEnabled(env, network))
  const [first] = followed
  if (!first) return
  if (env.PROCESSOR_METRICS_PORT !== 'off') {
    const metrics = await serveMetrics({
      host: env.METRICS_HOST,
      port: env.PROCESSOR_METRICS_PORT + networkIds.findIndex(({ name }) => name === first.name),
      what: `the processor of ${followed.map(({ name }) => name).join(', ')}`,
      setting: 'PROCESSOR_METRICS_PORT',
    })
    onShutdown('metrics', () => metrics.close())
  }
  const application = followed.length === 1 ? `processor-${first.name}` : 'processors'
  const stores = await openEventStore(env, application, 5 + 3 * followed.length)
  const wakeUps = openWakeUps({
    REDIS_URL: env.REDIS_URL,
    REDIS_PREFIX: env.REDIS_PREFIX,
    databaseUrl: stores.env.DATABASE_URL,
  })
  const stop = new AbortController()
  // Each chain has several who listen, and Node takes more than ten for a leak.
  setMaxListeners(0, stop.signal)
  const shared: Shared = {
    env,
    pool: stores.pool,
    wakeUps,
    protocols: await loadProtocols(),
    signal: stop.signal,
  }
  const done = Promise.all(
    followed.map(network =>
      followed.length === 1 ? follow(network, shared) : keepFollowing(network, shared),
    ),
  )
  const rechecks = followed.map(network => {
    const rpc = env.rpc[network.name]
    // Another endpoint than the preferred one knows better what that one left out.
    return startRecheck(rpc ? env.RECHECK_MINUTES : 0, network, () =>
      recheckNext(stores.pool, network, [...(rpc ?? [])].reverse(), env),
    )
  })
  onShutdown('processor', async () => {
    stop.abort()
    await Promise.all(rechecks.map(recheck => recheck.stop()))
    await done.catch(() => {})
    await wakeUps.close()
    await stores.close()
  })
  await done
  await shutdown('end of chain reached')
}

function isEnabled(env: Env, { name }: Network): boolean {
  if (env.rpc[name] || env.gateway[name] || env.portal[name]) return true
  log.info({ network: name }, 'not enabled: neither RPC nor Portal nor gateway is configured')
  return false
}

/** Milliseconds between attempts at most, where a chain fails that has its process not for itself. */
const LONGEST_PAUSE = 30_000

/** What a supervisor does for a process, for one chain of several: the others go on. */
async function keepFollowing(network: Network, shared: Shared): Promise<void> {
  for (let failures = 1; !shared.signal.aborted; failures++) {
    try {
      return await follow(network, shared)
    } catch (error) {
      const pause = Math.min(LONGEST_PAUSE, 250 * 2 ** failures)
      const { message } = error as Error
      log.error({ network: network.name, error: message, pause }, 'chain failed, beginning again')
      await sleep(pause, undefined, { signal: shared.signal }).catch(() => {})
    }
  }
}

async function follow(network: Network, { env, pool, wakeUps, protocols, signal }: Shared): Promise<void> {
  const contracts = await configuredContracts(env.CONTRACTS_FILE, network.name)
  await registerStream(pool, network.chainId, network.name, 'evm')
  await reinstateChain(pool, network.chainId)
  await followContractsFile(pool, network.chainId, contracts?.[IGNORED] ?? [])
  await runChain({
    network,
    protocols,
    pool,
    rpcUrls: env.rpc[network.name] ?? [],
    portal: configuredPortal(
      network,
      { urls: env.portal[network.name], apiKey: env.portalKey[network.name] ?? env.PORTAL_API_KEY },
      signal,
    ),
    gateway: env.gateway[network.name],
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
    signal,
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
}

main().catch(error => {
  if (error instanceof VaultlogError) log.fatal({ code: error.code }, error.message)
  else log.fatal({ err: error }, 'processor failed')
  void shutdown('failed', 1)
})
