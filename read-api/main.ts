import type pg from 'pg'
import { readHeads, sparingly } from '../db/chain/heads.ts'
import { createCreditMeter } from '../db/keys/credits.ts'
import { createKeyVerifier } from '../db/keys/keys.ts'
import { createRateMeter } from '../db/keys/rates.ts'
import { openLimitsRedis } from '../db/keys/redis.ts'
import { findNetwork } from '../db/networks.ts'
import { openPostgres } from '../db/postgres.ts'
import { readEnv } from '../db/process/env.ts'
import { VaultlogError } from '../db/process/errors.ts'
import { log } from '../db/process/log.ts'
import { serveMetrics } from '../db/process/metrics.ts'
import { onShutdown, shutdown } from '../db/process/shutdown.ts'
import { openQueueBackend } from '../db/queues.ts'
import { guardReadModels } from '../db/read-models.ts'
import { openStores } from '../db/stores.ts'
import { QUEUE } from '../db/wake-ups.ts'
import { createApp } from './app.ts'
import { createCatalogueKeeper } from './catalogue/keeper.ts'
import { exposeCatalogue } from './catalogue/metrics.ts'
import { Feed } from './feed/feed.ts'
import { readPaymentTerms } from './http/payment-terms.ts'
import { atHome, serve } from './http/serve.ts'
import { createIntents } from './intents/providers.ts'
import { createOnChain } from './on-chain.ts'
import { createStreamHistory } from './ops/history.ts'
import { createOps } from './ops/router.ts'
import { createSolanaNode } from './svm/node.ts'
import { Deliveries, type DeliveriesOptions } from './webhooks/deliveries.ts'
import { createWebhooks } from './webhooks/webhooks.ts'

async function main(): Promise<void> {
  const env = readEnv()
  if (env.API_METRICS_PORT !== 'off') {
    const metrics = await serveMetrics({
      host: env.METRICS_HOST,
      port: env.API_METRICS_PORT,
      what: 'the read API',
      setting: 'API_METRICS_PORT',
    })
    onShutdown('metrics', () => metrics.close())
  }
  const { pool, clickhouse, close, env: found } = await openStores(env, 'api')
  onShutdown('databases', close)

  const guard = await guardReadModels({ pool, clickhouse: clickhouse.client })
  onShutdown('guard', () => guard.stop())
  const catalogue = createCatalogueKeeper(
    pool,
    clickhouse.client,
    new Set(Object.keys(env.rpc).flatMap(name => findNetwork(name)?.chainId ?? [])),
    guard,
  )
  await catalogue.start()
  exposeCatalogue(catalogue, pool)
  onShutdown('catalogue', () => catalogue.stop())

  // Every request waits for these: a store that hangs is an error soon, and not a request without end.
  const limits = openPostgres(found.DATABASE_URL, 'api-limits', 8, 3_000)
  onShutdown('limits', () => limits.end())
  const redis = env.REDIS_URL ? openLimitsRedis(env.REDIS_URL) : undefined
  if (redis) onShutdown('redis', () => redis.disconnect())
  const credits = createCreditMeter(limits, { redis, namespace: env.REDIS_PREFIX })
  onShutdown('credits', () => credits.close())

  const onChain = createOnChain({
    rpc: env.rpc,
    catalogue,
    services: env.services,
  })

  const queues = openQueueBackend({ ...env, databaseUrl: found.DATABASE_URL })
  onShutdown('queue', () => queues.close())

  const history = createStreamHistory(pool)
  history.start()
  onShutdown('history', () => history.stop())

  const feed = new Feed(pool, openStandby(env.DATABASE_READ_URL))
  const webhooks = createWebhooks(pool, env)

  const verifyKey = createKeyVerifier(limits)
  const terms = readPaymentTerms(env)
  const app = await createApp(
    {
      pool,
      clickhouse: clickhouse.client,
      rates: createRateMeter(limits, { redis, namespace: env.REDIS_PREFIX }),
      catalogue,
      verifyKey,
      credits,
      feed,
      webhooks,
      onChain,
      solana: createSolanaNode(env.RPC_SOLANA),
      intents: createIntents(env, { pool, reader: onChain.reader }),
      showUnlisted: env.SHOW_UNLISTED,
    },
    {
      deadlineMs: env.API_DEADLINE_MS,
      corsOrigins: env.CORS_ORIGINS,
      trustProxy: env.TRUST_PROXY,
      publicUrl: env.PUBLIC_URL,
      shortAddresses: env.LOG_ADDRESSES === 'short',
      ops: createOps({
        pool,
        queue: queues.createQueue(QUEUE),
        history,
        heads: sparingly(() => readHeads(env)),
        verifyKey,
        publicUrl: env.PUBLIC_URL,
      }),
      // Only who is paid needs the libraries for it.
      payments: terms && (await import('./http/payments.ts')).createPayments(terms),
    },
  )
  const server = await serve(atHome(app, env), { port: env.API_PORT, host: env.HOST })
  onShutdown('http', () => server.close())
  onShutdown('feed', () => feed.stop())
  startDeliveries(found.DATABASE_URL, {
    feed,
    poster: webhooks.poster,
    credits,
    readModels: { catalogue, clickhouse: clickhouse.client },
  })
  log.info(
    { port: env.API_PORT, ...(guard.fault ? {} : { vaults: catalogue.current().size }) },
    'read API listening',
  )
}

function openStandby(url: string | undefined): pg.Pool | undefined {
  if (!url) return undefined
  // One that hangs is to be noticed soon: what it does not tell is read where events are written.
  const pool = openPostgres(url, 'api-standby', 4, 5_000)
  onShutdown('standby', () => pool.end())
  return pool
}

function startDeliveries(databaseUrl: string, options: Omit<DeliveriesOptions, 'pool'>): void {
  // Requests do not wait for connections that messages are noted by.
  const pool = openPostgres(databaseUrl, 'api-webhooks', 4)
  onShutdown('webhooks', () => pool.end())
  const deliveries = new Deliveries({ ...options, pool })
  deliveries.start()
  onShutdown('deliveries', () => deliveries.stop())
}

main().catch(error => {
  if (error instanceof VaultlogError) log.fatal({ code: error.code }, error.message)
  else log.fatal({ err: error }, 'read API failed')
  void shutdown('failed', 1)
})
