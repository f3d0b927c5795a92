import type pg from 'pg'
import { inject } from 'vitest'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import { identifier } from '../db/clickhouse/migrate.ts'
import { networks } from '../db/networks.ts'
import { readIgnored } from '../db/registry/ignored.ts'
import { listStreams } from '../jobs/checkpoints.ts'
import type { ProgressBoard } from '../jobs/progress.ts'
import { loadProjections, type Projection } from '../jobs/projection.ts'
import { catchUpAll } from '../jobs/work.ts'
import type { ChainProcessorOptions } from '../processors/chain-options.ts'
import { runChain } from '../processors/chain-processor.ts'
import { createDecoder } from '../processors/handling/decode.ts'
import { compareRange } from '../processors/knowledge/completeness.ts'
import { KnownContracts } from '../processors/knowledge/known-contracts.ts'
import { loadProtocols } from '../processors/load-protocols.ts'
import type { Protocol } from '../processors/protocol.ts'
import { openChainRpc } from '../processors/source/rpc.ts'
import type { Scenario } from './chain/scenario.ts'
import { createClickHouse, createPostgres, type TestPostgres } from './databases.ts'
import { listVaults } from './listing.ts'

/** Event store, ClickHouse and projections of their own, and ways to run the real processor on them. */
export interface Pipeline {
  postgres: TestPostgres
  clickhouse: ClickHouse
  projections: Projection[]
  /** Runs the processor until the store's head block is at least `block`; resolves with it stopped. */
  indexTo(block: number, options: FollowOptions): Promise<void>
  /** Keeps the processor running until `stop`. */
  follow: Follow
  project(): Promise<void>
  /** Rows and checksum of what a reader sees of each projection; positions left out, which differ after a reorg. */
  visibleSums(): Promise<Record<string, { rows: number; checksum: string }>>
  rows<T>(query: string, parameters?: Record<string, unknown>): Promise<T[]>
  /** For commands that are to work on the same databases. */
  env(): Record<string, string>
  drop(): Promise<void>
}

const network = networks.mainnet

type FollowOptions = Partial<ChainProcessorOptions> & { rpcUrl: string }
type Follow = (options: FollowOptions) => { stop(): Promise<void>; reached(block: number): Promise<void> }

/** Runs the real processor on an event store. */
export function follower(pool: pg.Pool, protocols: readonly Protocol[]): Follow {
  const headBlock = async () =>
    (await listStreams(pool)).find(({ id }) => id === network.chainId)?.head_height ?? -1
  return ({ rpcUrl, ...options }) => {
    const stop = new AbortController()
    let failure: unknown
    const done = runChain({
      network,
      protocols,
      pool,
      rpcUrls: [rpcUrl],
      pollInterval: 50,
      signal: stop.signal,
      ...options,
    }).catch(error => {
      failure = error
    })
    return {
      async reached(block) {
        while ((await headBlock()) < block) {
          if (failure) throw failure
          await new Promise(resolve => setTimeout(resolve, 20))
        }
      },
      async stop() {
        stop.abort()
        await done
        if (failure) throw failure
      },
    }
  }
}

export async function indexTo(follow: Follow, block: number, options: FollowOptions): Promise<void> {
  const run = follow(options)
  await run.reached(block)
  await run.stop()
}

/** What the chain's own logs say against the store, from the first block on; prices aside, whose feeds are not told. */
export async function differencesFromChain(
  pool: pg.Pool,
  rpcUrl: string,
  to: number,
  configured: Record<string, readonly string[]> = {},
): Promise<string[]> {
  const protocols = await loadProtocols()
  const decoder = createDecoder(protocols, network.name)
  const contracts = new KnownContracts(protocols)
  contracts.ignore(new Set((await readIgnored(pool, network.chainId)).ignored.keys()))
  contracts.watchSources(decoder.sources(configured))
  await contracts.load(pool, network.chainId)
  const rpc = openChainRpc([rpcUrl])
  const { differences } = await compareRange(
    { pool, stream: network.chainId, rpc, decoder, contracts },
    0,
    to,
  )
  return differences.filter(difference => !difference.startsWith('PriceReported'))
}

/** A projection of each kind: with heads, with tables beside, made of few blocks, reading its own rows or another's, of the registry. */
export const EACH_KIND = [
  'asset',
  'balance',
  'daily_flow',
  'drawdown',
  'flow',
  'lending_event',
  'registry_fact',
  'vault',
  'vault_hourly',
  'vault_sample',
]

export const quiet: ProgressBoard = { start: () => ({ update() {}, finish() {} }), close() {} }

/** With these projections alone where they are named; with all that is stored in another one that is done, where there is one. */
export async function createPipeline({
  only,
  like,
}: {
  only?: readonly string[]
  like?: Pipeline
} = {}): Promise<Pipeline> {
  const postgres = await createPostgres(like?.postgres)
  const { house: clickhouse, drop } = await createClickHouse(like?.clickhouse)
  const projections = (await loadProjections()).filter(({ name }) => only?.includes(name) ?? true)
  const protocols = await loadProtocols()

  const rows = <T>(query: string, parameters?: Record<string, unknown>) =>
    clickhouse.query<T>('test', query, parameters)
  const follow = follower(postgres.pool, protocols)

  return {
    postgres,
    clickhouse,
    projections,
    follow,
    indexTo: (block, options) => indexTo(follow, block, options),
    async project() {
      await listVaults(postgres.pool)
      await catchUpAll({ pool: postgres.pool, clickhouse: clickhouse.client, projections })
    },
    visibleSums: () => visibleSumsOf(clickhouse, projections),
    rows,
    env: () => ({
      DATABASE_URL: postgres.url,
      CLICKHOUSE_URL: inject('clickhouseUrl'),
      CLICKHOUSE_DATABASE: clickhouse.database,
    }),
    async drop() {
      await drop()
      await postgres.drop()
    },
  }
}

/** Rows and checksum of what a reader sees of each projection of chains, positions left out. */
export async function visibleSumsOf(
  clickhouse: ClickHouse,
  projections: readonly Projection[],
  kind: Projection['streams'] = 'evm',
): Promise<Record<string, { rows: number; checksum: string }>> {
  const sums: Record<string, { rows: number; checksum: string }> = {}
  for (const { name, streams } of projections) {
    if (streams !== kind) continue
    const visible = 'WHERE (chain_id, position) NOT IN (SELECT stream, position FROM retracted)'
    const [sum] = await clickhouse.query<{ rows: string; checksum: string }>(
      'test',
      `SELECT toString(count()) AS rows, toString(sum(cityHash64(toString(tuple(* EXCEPT position))))) AS checksum
       FROM ${identifier(name)} FINAL ${visible}`,
    )
    sums[name] = { rows: Number(sum?.rows), checksum: sum?.checksum ?? '' }
  }
  return sums
}

/** What the demo chain has in place of mainnet's own contracts. */
export function scenarioContracts(
  scenario: Pick<Scenario, 'morpho' | 'aave' | 'feeds'>,
): Record<string, string[]> {
  return {
    'morpho-blue': [scenario.morpho.address],
    'aave-v3-pool': [scenario.aave.pool],
    'aave-v3-configurator': [scenario.aave.configurator],
    'chainlink-feed': scenario.feeds.map(({ proxy }) => proxy),
  }
}
