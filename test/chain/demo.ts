import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { openClickHouse } from '../../db/clickhouse/client.ts'
import { dropClickHouse, migrateClickHouse } from '../../db/clickhouse/migrate.ts'
import { assertRoom, openFolder } from '../../db/embedded/folder.ts'
import { startEmbedded } from '../../db/embedded/up.ts'
import { createKey } from '../../db/keys/keys.ts'
import { migratePostgres, openPostgres } from '../../db/postgres.ts'
import { API_COMMAND } from '../../db/process/api-command.ts'
import { type Env, readEnv } from '../../db/process/env.ts'
import { PortInUseError, VaultlogError } from '../../db/process/errors.ts'
import { onShutdown, shutdown } from '../../db/process/shutdown.ts'
import { recordFacts } from '../../db/registry/registry.ts'
import { readStatus } from '../../db/status.ts'
import { openProgress } from '../../jobs/progress.ts'
import { loadProjections } from '../../jobs/projection.ts'
import { supervise } from '../../jobs/supervisor.ts'
import { refuseTakenPorts } from '../../jobs/taken-ports.ts'
import { dropDatabase } from '../drop-database.ts'
import { scenarioContracts } from '../pipeline.ts'
import { startProofServer } from '../read-api/rewards/proof-server.ts'
import { createDemoLiquidity } from './demo-amm.ts'
import { DemoBridge } from './demo-bridge.ts'
import { asking, checkDemo } from './demo-check.ts'
import { type DemoFile, demoFacts, exampleRequests, rewardAnswers } from './demo-facts.ts'
import { createGallery } from './demo-gallery.ts'
import { createDemoMarkets } from './demo-pendle.ts'
import { DemoSolana } from './demo-solana.ts'
import { createGuests } from './guests.ts'
import { startNode } from './node.ts'
import { runScenario } from './scenario.ts'
import type { DeployedVault } from './world.ts'

const DATABASE = 'vaultlog_demo'
const SOLANA_DAYS = 40
const say = (text: string) => process.stdout.write(`${text}\n`)
const started = performance.now()
const seconds = () => `${((performance.now() - started) / 1000).toFixed(0)} s`

/**
 * The main job on a chain of its own: a local node with real contracts lives through months, the real processor
 * indexes them, the worker projects, the API answers. With --exit it checks itself against the contracts and ends.
 */
async function demo(): Promise<void> {
  const { values } = parseArgs({
    options: { exit: { type: 'boolean', default: false }, days: { type: 'string', default: '130' } },
  })
  const env = readEnv()
  // Nothing of this folder runs yet where there is none: what has the databases' ports is another's.
  const isNew = !existsSync(join(env.VAULTLOG_DIR, 'postgres'))
  const ports = { command: 'npm run demo', networks: ['mainnet', 'base', 'solana'], said: process.env }
  await refuseTakenPorts(env, { ...ports, databases: isNew })
  if (!env.DATABASE_URL || !env.CLICKHOUSE_URL) assertRoom(openFolder(env.VAULTLOG_DIR), true)
  const progress = openProgress()

  say('Starting Postgres and ClickHouse, unless their URLs are set.')
  const embedded = await startEmbedded(env).catch(async (error: unknown) => {
    if (error instanceof PortInUseError) await refuseTakenPorts(env, { ...ports, databases: true })
    throw error
  })
  onShutdown('databases', () => embedded.stop())
  const databaseUrl = await freshDatabase(embedded.databaseUrl)
  const clickhouse = openClickHouse({ url: embedded.clickhouseUrl, database: DATABASE })
  await dropClickHouse(clickhouse)
  await migrateClickHouse(clickhouse)
  const pool = openPostgres(databaseUrl, 'demo')
  await migratePostgres(pool)

  say(`Databases are up after ${seconds()}. A local node stands in for mainnet; its contracts are real.`)
  // Of a time at which the contracts of Pendle run.
  const node = await startNode({ hardfork: 'cancun' })
  onShutdown('node', () => node.stop())
  const days = Number(values.days)
  const living = progress.start('living', days, 'days')
  const guests = createGuests()
  const gallery = createGallery(node)
  const markets = createDemoMarkets()
  const liquidity = createDemoLiquidity()
  const scenario = await runScenario(node, {
    days,
    onProgress: done => living.update(done),
    companions: [guests, gallery, markets, liquidity],
  })
  living.finish()

  const bridge = await DemoBridge.create(node, scenario.users[0] ?? '0x')
  onShutdown('bridge', () => bridge.stop())

  const solana = await DemoSolana.create(SOLANA_DAYS)
  onShutdown('Solana', () => solana.stop())
  await solana.live(pool, SOLANA_DAYS)
  say(
    `Two stake pools and two lending vaults on a chain of Solana's kind lived ${SOLANA_DAYS} days, indexed all the while; ${seconds()}.`,
  )

  const folder = join(env.VAULTLOG_DIR, 'demo')
  await mkdir(folder, { recursive: true })
  const contractsFile = join(folder, 'contracts.json')
  const contracts = {
    ...scenarioContracts(scenario),
    'metamorpho-factory': [guests.factory],
    'pendle-v2-factory': [markets.factory],
    'ichi-vault-factory': [liquidity.factory],
    ...bridge.contracts,
  }
  await writeFile(
    contractsFile,
    JSON.stringify({ mainnet: contracts, base: { ...bridge.contracts, 'chainlink-feed': [] } }, null, 2),
  )
  await recordFacts(
    pool,
    [...demoFacts(scenario, guests), ...markets.facts(), ...liquidity.facts(), ...solana.facts()],
    scenario.start,
  )
  const proofs = await startProofServer()
  onShutdown('proofs of rewards', async () => {
    await proofs.stop()
  })
  for (const [path, answer] of rewardAnswers(guests)) proofs.answers.set(path, answer)

  say(
    `${scenario.stats.blocks} blocks and ${scenario.stats.transactions} transactions after ${seconds()}. Indexing them.`,
  )
  const shared = {
    DATABASE_URL: databaseUrl,
    CLICKHOUSE_URL: embedded.clickhouseUrl,
    CLICKHOUSE_DATABASE: DATABASE,
    RPC_MAINNET: node.rpcUrl,
    RPC_SOLANA: solana.node.url,
    ...bridge.settings,
    CONTRACTS_FILE: contractsFile,
    MERKL_URL: proofs.baseUrl,
    POLL_INTERVAL_MS: '100',
    LOG_LEVEL: 'warn',
    SQD_WARN: '*',
  }
  const graphql = embedded.graphqlDatabaseUrl
    ? { GRAPHQL_DATABASE_URL: demoDatabase(embedded.graphqlDatabaseUrl) }
    : {}
  const processes = supervise(
    [
      { name: 'processor', args: ['processors/main.ts', 'mainnet'], env: shared },
      { name: 'base', args: ['processors/main.ts', 'base'], env: shared },
      { name: 'solana', args: ['processors/main.ts', 'solana'], env: shared },
      { name: 'worker', args: ['jobs/main.ts'], env: shared },
      { name: 'api', args: API_COMMAND, env: shared },
      ...(values.exit ? [] : [{ name: 'graphql', args: ['db/graphql.ts'], env: { ...shared, ...graphql } }]),
    ],
    line => process.stderr.write(`${line}\n`),
  )
  onShutdown('processes', () => processes.stop())

  const head = (await node.head()).number
  // And the mirror.
  const wanted = (await loadProjections()).filter(({ streams }) => streams === 'evm').length + 1
  const indexing = progress.start('indexing', head, 'blocks')
  while (true) {
    const stream = (await readStatus(pool)).find(({ name }) => name === 'mainnet')
    indexing.update(Math.max(0, stream?.headBlock ?? 0))
    const behind = stream?.projections.filter(({ behind }) => behind > 0).length ?? 1
    if (stream && stream.headBlock >= head && behind === 0 && stream.projections.length >= wanted) break
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  indexing.finish()
  progress.close()

  const apiKey = (await createKey(pool, { name: 'demo', plan: 'unlimited' })).key
  const adminKey = (await createKey(pool, { name: 'demo admin', plan: 'unlimited', admin: true })).key
  const baseUrl = `http://127.0.0.1:${env.API_PORT}`
  await untilReady(baseUrl, apiKey, head)
  say(`The API answers after ${seconds()}. USDC goes from mainnet to base, which is another local node.`)
  await bridge.live(asking({ baseUrl, apiKey }))
  const file: DemoFile = {
    baseUrl,
    apiKey,
    adminKey,
    network: 'mainnet',
    vaults: [...scenario.vaults, guests.asynchronous, guests.made].map(identified),
    unlisted: [guests.found].map(identified),
    strangers: gallery.strangers,
    users: scenario.users,
    markets: scenario.morpho.markets.map(({ id, params }) => ({
      marketId: id,
      assetIds: [params.loanToken, params.collateralToken],
    })),
    fixedTerm: [markets.short.market, markets.long.market],
    amm: [liquidity.vault.address],
    svm: {
      vaults: [...solana.pools.map(({ pool }) => pool), solana.lending.lending, solana.kamino.is.vault],
      users: solana.wallets.map(({ address }) => address),
      rpcUrl: solana.node.url,
    },
    bridge: { user: bridge.user, usdc: bridge.usdc, ...bridge.burns, rpcUrl: bridge.base.rpcUrl },
    rpcUrl: node.rpcUrl,
    databaseUrl,
    clickhouseUrl: embedded.clickhouseUrl,
  }
  // Keys and passwords are in it.
  const demoFile = join(env.VAULTLOG_DIR, 'demo.json')
  await rm(demoFile, { force: true })
  await writeFile(demoFile, JSON.stringify(file, null, 2), { mode: 0o600 })
  await untilReady(file.baseUrl, apiKey, (await node.head()).number)

  say(`\nReady after ${seconds()}. Look at it: ${file.baseUrl}/explore/#key=${apiKey}`)
  say('What happened:')
  for (const words of scenario.plainWords) say(`  ${words}`)
  if (values.exit) {
    const wrong = await checkDemo(
      node,
      { scenario, guests, markets, liquidity, solana, bridge, clickhouse },
      file,
      say,
    )
    await pool.end()
    await clickhouse.close()
    await shutdown('checked', wrong === 0 ? 0 : 1)
    return
  }
  say('\nTry these; they work as they stand:\n')
  for (const { what, curl } of exampleRequests(file, scenario)) say(`# ${what}\n${curl}\n`)
  say(
    `Interactive documentation: ${file.baseUrl}/documentation    GraphQL over raw events: http://127.0.0.1:${env.GRAPHQL_PORT}/graphql`,
  )
  say(`Operator's page: ${file.baseUrl}/ops (any user name, the adminKey of ${demoFile} as password)`)
  say(
    `SQL: curl '${analystUrl(embedded.clickhouseUrl, env)}/?database=${DATABASE}' --data 'SELECT * FROM vaults FORMAT Pretty'`,
  )
  say(`Everything a script needs is in ${demoFile}. Ctrl-C ends it all.`)
  await pool.end()
  await clickhouse.close()
  await node.setIntervalMining(12)
  await bridge.goOn()
  solana.goOn()
}

const identified = ({ address, asset, kind }: DeployedVault) => ({
  vaultId: address,
  asset: asset.address,
  kind,
})

/** As the data team's user: reading is all that it may do. */
function analystUrl(clickhouseUrl: string, env: Env): string {
  const url = new URL(clickhouseUrl)
  url.username = env.CLICKHOUSE_READONLY_USER
  url.password = env.CLICKHOUSE_READONLY_PASSWORD
  return url.href.replace(/\/$/, '')
}

/** A database of the demo's own on that server: every run has a new chain. */
async function freshDatabase(server: string): Promise<string> {
  await dropDatabase(server, DATABASE)
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  await admin.query(`CREATE DATABASE ${DATABASE}`)
  await admin.end()
  return demoDatabase(server)
}

function demoDatabase(server: string): string {
  const url = new URL(server)
  url.pathname = `/${DATABASE}`
  return url.href
}

const PATIENCE_MS = 180_000

/** The API is ready when it answers as of the chain's head. */
async function untilReady(baseUrl: string, apiKey: string, head: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (performance.now() < deadline) {
    const answer = await fetch(`${baseUrl}/v2/vaults`, { headers: { 'x-api-key': apiKey } }).catch(
      () => undefined,
    )
    const block = /mainnet=(\d+)/.exec(answer?.headers.get('x-as-of-block') ?? '')?.[1]
    if (answer?.ok && Number(block) >= head) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new ApiNotReadyError()
}

class ApiNotReadyError extends VaultlogError {
  readonly code = 'API_NOT_READY'
  constructor() {
    super(`The API did not come up within ${PATIENCE_MS / 1000} s; its lines above say why.`)
  }
}

demo().catch(error => {
  process.stderr.write(`${error instanceof VaultlogError ? error.message : (error as Error).stack}\n`)
  void shutdown('failed', 1)
})
