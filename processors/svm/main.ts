import { openFailover } from '../../db/chain/failover.ts'
import { registerStream } from '../../db/events/event-store.ts'
import { reinstateChain } from '../../db/events/retire.ts'
import { networkIds } from '../../db/networks.ts'
import type { Env } from '../../db/process/env.ts'
import { log } from '../../db/process/log.ts'
import { serveMetrics } from '../../db/process/metrics.ts'
import { onShutdown, shutdown } from '../../db/process/shutdown.ts'
import { openEventStore } from '../../db/stores.ts'
import { SOLANA } from '../../db/streams.ts'
import { MIRROR, openWakeUps } from '../../db/wake-ups.ts'
import { configuredPortal } from '../source/configured-portal.ts'
import { loadPrograms } from './load-programs.ts'
import { openPortalSource } from './portal-source.ts'
import { runSvm } from './processor.ts'
import { assertRightCluster } from './right-cluster.ts'
import { openRpcSource } from './rpc-source.ts'

/** The processor of Solana, as the environment says. */
export async function runSolana(env: Env): Promise<void> {
  const { RPC_SOLANA: rpc, PORTAL_SOLANA: portal } = env
  if (!rpc && !portal) {
    log.info({ network: SOLANA.name }, 'not enabled: neither RPC nor Portal is configured')
    return
  }
  if (env.PROCESSOR_METRICS_PORT !== 'off') {
    const metrics = await serveMetrics({
      host: env.METRICS_HOST,
      port: env.PROCESSOR_METRICS_PORT + networkIds.length,
      what: `the processor of ${SOLANA.name}`,
      setting: 'PROCESSOR_METRICS_PORT',
    })
    onShutdown('metrics', () => metrics.close())
  }
  const stores = await openEventStore(env, `processor-${SOLANA.name}`)
  const wakeUps = openWakeUps({
    REDIS_URL: env.REDIS_URL,
    REDIS_PREFIX: env.REDIS_PREFIX,
    databaseUrl: stores.env.DATABASE_URL,
  })
  await registerStream(stores.pool, SOLANA.id, SOLANA.name, 'svm')
  await reinstateChain(stores.pool, SOLANA.id)
  const ask = rpc && openFailover(rpc)
  const stop = new AbortController()
  const chosen = configuredPortal(
    { name: SOLANA.name, portal: 'solana-mainnet' },
    { urls: env.PORTAL_SOLANA, apiKey: env.PORTAL_API_KEY_SOLANA ?? env.PORTAL_API_KEY },
    stop.signal,
  )
  const source = chosen ? openPortalSource(chosen) : ask && openRpcSource(ask)
  if (!source) return
  const follow = async () => {
    if (ask) await assertRightCluster(ask)
    await runSvm({
      pool: stores.pool,
      programs: await loadPrograms(),
      source,
      ask: env.SAMPLES ? ask : undefined,
      startSlot: env.START_BLOCK_SOLANA,
      pollInterval: env.POLL_INTERVAL_MS,
      signal: stop.signal,
      onCommit: ({ head, appended }) => {
        if (appended === 0) return
        // Nothing waits for the queue: what a wake-up would have said, the cursors say too.
        wakeUps
          .add([{ projection: MIRROR, stream: SOLANA.id, to: head }])
          .catch((error: Error) =>
            log.warn({ error: error.message }, 'worker could not be woken; it will look by itself'),
          )
      },
    })
  }
  const done = follow()
  onShutdown('processor', async () => {
    stop.abort()
    await done.catch(() => {})
    await wakeUps.close()
    await stores.close()
  })
  await done
  await shutdown('end of chain reached')
}
