import type { ClickHouseClient } from '@clickhouse/client'
import type pg from 'pg'
import type { ClickHouse } from '../../db/clickhouse/client.ts'
import type { BlockEvents } from '../../db/events/event-store.ts'
import { createCreditMeter } from '../../db/keys/credits.ts'
import { createKey, createKeyVerifier } from '../../db/keys/keys.ts'
import { createRateMeter } from '../../db/keys/rates.ts'
import type { ReadModelGuard } from '../../db/read-models.ts'
import { loadProjections } from '../../jobs/projection.ts'
import { catchUpAll } from '../../jobs/work.ts'
import { type App, createApp } from '../../read-api/app.ts'
import type { CatalogueKeeper } from '../../read-api/catalogue/keeper.ts'
import { createCatalogueKeeper } from '../../read-api/catalogue/keeper.ts'
import { Feed } from '../../read-api/feed/feed.ts'
import type { ApiDeps } from '../../read-api/http/endpoint.ts'
import { createIntents, type IntentSettings } from '../../read-api/intents/providers.ts'
import type { OnChainOptions } from '../../read-api/on-chain.ts'
import { createOnChain } from '../../read-api/on-chain.ts'
import { createSolanaNode } from '../../read-api/svm/node.ts'
import { createWebhooks } from '../../read-api/webhooks/webhooks.ts'
import { createClickHouse, createPostgres, type TestPostgres } from '../databases.ts'
import { listVaults } from '../listing.ts'
import { appendBlocks, recordFacts } from './append.ts'

/** An API on databases of its own, and the means to tell it what happened. */
export interface ApiHarness {
  app: App
  deps: ApiDeps
  pool: pg.Pool
  databaseUrl: string
  clickhouse: ClickHouseClient
  house: ClickHouse
  catalogue: CatalogueKeeper
  apiKey: string
  /** Appends blocks to a chain's stream. */
  append(chainId: number, name: string, blocks: BlockEvents[]): Promise<void>
  recordFacts(facts: { subject: string; kind: string; value: unknown }[], at: number): Promise<void>
  /** Brings mirror, projections and catalogue up to the event store. */
  catchUp(): Promise<void>
  stop(): Promise<void>
}

/** `rpcUrl`: of a node that stands for mainnet; without one, what is read on chain answers 503. */
export async function startApi(
  options: {
    rpcUrl?: string
    blockTimeMs?: number
    /** Of a node of Solana; without one, what is read there answers 503. */
    solanaUrl?: string
    /** Vaults that the registry does not list; all others it does. */
    strangers?: readonly string[]
    showUnlisted?: boolean
    /** Databases that somebody else made, and drops. */
    on?: { postgres: TestPostgres; clickhouse: ClickHouse }
    guard?: ReadModelGuard
    /** Services that move positions between chains. */
    intents?: IntentSettings
    /** Read models that the worker’s code does not have. */
    without?: readonly string[]
  } & Partial<OnChainOptions> = {},
): Promise<ApiHarness> {
  const postgres = options.on?.postgres ?? (await createPostgres())
  const { house, drop } = options.on
    ? { house: options.on.clickhouse, drop: undefined }
    : await createClickHouse()
  const clickhouse = house.client
  const projections = (await loadProjections()).filter(({ name }) => !options.without?.includes(name))
  const { pool } = postgres
  const { key: apiKey } = await createKey(pool, { name: 'test', plan: 'unlimited' })
  const catalogue = createCatalogueKeeper(pool, clickhouse, new Set(options.rpcUrl ? [1] : []), options.guard)
  const credits = createCreditMeter(pool)
  const onChain = createOnChain({
    rpc: options.rpcUrl ? { mainnet: [options.rpcUrl] } : {},
    blockTime: { mainnet: options.blockTimeMs ?? 0 },
    // What a slow node does not say in time is left out without a word.
    timeoutMs: 20_000,
    deadlineMs: 20_000,
    patienceMs: 20_000,
    ...options,
    catalogue,
  })
  const deps: ApiDeps = {
    pool,
    clickhouse,
    rates: createRateMeter(pool),
    catalogue,
    verifyKey: createKeyVerifier(pool),
    credits,
    feed: new Feed(pool),
    webhooks: createWebhooks(pool, {
      WEBHOOKS_PER_KEY: 20,
      ALERT_RULES_PER_KEY: 100,
      WEBHOOK_PRIVATE_TARGETS: true,
    }),
    onChain,
    solana: createSolanaNode(options.solanaUrl ? [options.solanaUrl] : []),
    intents: createIntents(options.intents ?? {}, { pool, reader: onChain.reader, timeoutMs: 1_000 }),
    showUnlisted: options.showUnlisted ?? false,
  }
  return {
    app: await createApp(deps),
    deps,
    pool,
    databaseUrl: postgres.url,
    clickhouse,
    house,
    catalogue,
    apiKey,
    append: (chainId, name, blocks) => appendBlocks(pool, chainId, name, blocks),
    recordFacts: (facts, at) => recordFacts(pool, facts, at),
    async catchUp() {
      await listVaults(pool, new Set(options.strangers))
      await catchUpAll({ pool, clickhouse, projections })
      await catalogue.refresh()
    },
    async stop() {
      await deps.feed.stop()
      await catalogue.stop()
      await credits.close()
      await drop?.()
      if (!options.on) await postgres.drop()
    },
  }
}
