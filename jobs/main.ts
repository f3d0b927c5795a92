import { readEnv } from '../db/process/env.ts'
import { VaultlogError } from '../db/process/errors.ts'
import { log } from '../db/process/log.ts'
import { serveMetrics } from '../db/process/metrics.ts'
import { onShutdown, shutdown } from '../db/process/shutdown.ts'
import { guardReadModels } from '../db/read-models.ts'
import { listFeeds } from '../db/registry/feeds.ts'
import { openStores } from '../db/stores.ts'
import { loadProjections } from './projection.ts'
import { startWorker } from './worker.ts'

async function main(): Promise<void> {
  const env = readEnv()
  if (env.WORKER_METRICS_PORT !== 'off') {
    const metrics = await serveMetrics({
      host: env.METRICS_HOST,
      port: env.WORKER_METRICS_PORT,
      what: 'the worker',
      setting: 'WORKER_METRICS_PORT',
    })
    onShutdown('metrics', () => metrics.close())
  }
  // Of feeds a worker tells the age and nothing else: without the file it tells that of the known ones.
  const feeds = await listFeeds(env.CONTRACTS_FILE).catch((error: Error) => {
    log.warn({ error: error.message }, 'CONTRACTS_FILE left aside')
    return listFeeds(undefined)
  })
  // A job holds two while its statements, of which there are as many at one time as jobs, take one each.
  const stores = await openStores(env, 'worker', 8 + 3 * env.WORKER_CONCURRENCY)
  onShutdown('databases', () => stores.close())
  const guard = await guardReadModels({ pool: stores.pool, clickhouse: stores.clickhouse.client })
  onShutdown('guard', () => guard.stop())
  const worker = startWorker({
    guard,
    pool: stores.pool,
    clickhouse: stores.clickhouse,
    projections: await loadProjections(),
    feeds,
    concurrency: env.WORKER_CONCURRENCY,
    queue: { REDIS_URL: env.REDIS_URL, REDIS_PREFIX: env.REDIS_PREFIX, databaseUrl: stores.env.DATABASE_URL },
  })
  onShutdown('worker', () => worker.stop())
}

main().catch(error => {
  if (error instanceof VaultlogError) log.fatal({ code: error.code }, error.message)
  else log.fatal({ err: error }, 'worker failed')
  void shutdown('failed', 1)
})
