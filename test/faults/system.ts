import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type ClickHouse, openClickHouse } from '../../db/clickhouse/client.ts'
import { dropClickHouse } from '../../db/clickhouse/migrate.ts'
import { type Network, networks } from '../../db/networks.ts'
import { openPostgres } from '../../db/postgres.ts'
import { API_COMMAND } from '../../db/process/api-command.ts'
import { readStatus } from '../../db/status.ts'
import { loadProjections } from '../../jobs/projection.ts'
import { freePort } from '../chain/anvil-process.ts'
import { dropDatabase } from '../drop-database.ts'
import { GeneratedChain } from './chain/generated-chain.ts'
import { expectedOf } from './chain/oracle.ts'
import { type FaultyNode, startFaultyNode } from './chain/rpc-server.ts'
import { type Running, start } from './command.ts'
import type { OwnServers } from './own-servers.ts'
import type { SmallDisk } from './small-disk.ts'

/** A network without curated vaults of its own that would be asked for at every turn. */
export const NETWORK: Network = networks.swellchain
/** Another one. */
export const SECOND_NETWORK: Network = networks.worldchain

export class CheckFailedError extends Error {}

export function must(condition: boolean, what: string): void {
  if (!condition) throw new CheckFailedError(what)
}

export interface Servers {
  databaseUrl: string
  clickhouseUrl: string
  redisUrl?: string
}

export interface SystemOptions extends Servers {
  seed: number
  finality?: number
  /** The processes reach the node by WebSocket. */
  isWebSocket?: boolean
  blockSeconds?: number
  env?: Record<string, string>
  /** Servers of this check alone, which it may stop. */
  own?: OwnServers['servers']
  disk?: SmallDisk
}

type Part = 'processor' | 'worker' | 'api'
const scriptOf = (part: Part, network: Network): string[] =>
  ({
    processor: ['processors/main.ts', network.name],
    worker: ['jobs/main.ts'],
    api: API_COMMAND,
  })[part]

/** Milliseconds after which nobody waits any more, ten times what a busy machine takes. */
const NEVER = 240_000
const OLDER_LOGS = 'contracts with older logs to come'

async function makeChain(
  network: Network,
  options: Pick<SystemOptions, 'seed' | 'finality' | 'isWebSocket' | 'blockSeconds'>,
) {
  const chain = new GeneratedChain({
    seed: options.seed,
    chainId: network.chainId,
    ...(options.blockSeconds === undefined ? {} : { blockSeconds: options.blockSeconds }),
  })
  chain.addVault()
  chain.addVault({ decimals: 6, assetDecimals: 6 })
  const node = await startFaultyNode(chain, { seed: options.seed })
  const setting = network.name.toUpperCase().replaceAll('-', '_')
  const env: Record<string, string> = {
    [`RPC_${setting}`]: options.isWebSocket ? node.url.replace('http', 'ws') : node.url,
    [`FINALITY_${setting}`]: String(options.finality ?? 20),
  }
  return { network, chain, node, env }
}

/** The product's own processes over a generated chain, on databases of their own. */
export class System {
  readonly running = new Map<Part, Running>()
  readonly ends: { part: Part; code: number | null; signal: NodeJS.Signals | null }[] = []
  private readonly stopping = new Set<Running>()
  private restarts = true
  private said: string[] = []
  readonly chain: GeneratedChain
  readonly node: FaultyNode
  readonly pool: pg.Pool
  readonly house: ClickHouse
  readonly env: Record<string, string>
  readonly own: OwnServers['servers']
  readonly disk: SmallDisk | undefined
  readonly network: Network
  /** Where the processes' code lies; a check may put an older build there before it starts them. */
  root: string | undefined
  private readonly dropDatabases: () => Promise<void>

  private constructor(
    parts: Pick<System, 'network' | 'chain' | 'node' | 'pool' | 'house' | 'env' | 'own' | 'disk'> & {
      dropDatabases: () => Promise<void>
    },
  ) {
    this.network = parts.network
    this.chain = parts.chain
    this.node = parts.node
    this.pool = parts.pool
    this.house = parts.house
    this.env = parts.env
    this.own = parts.own
    this.disk = parts.disk
    this.dropDatabases = parts.dropDatabases
  }

  /** Makes the chain (two vaults, nothing happened yet), its node and empty databases. Starts no process. */
  static async open(options: SystemOptions): Promise<System> {
    const made = await makeChain(NETWORK, options)
    const database = `vaultlog_faults_${randomBytes(5).toString('hex')}`
    const admin = new pg.Client({ connectionString: options.databaseUrl })
    await admin.connect()
    await admin.query(`CREATE DATABASE ${database}`)
    await admin.end()
    const url = new URL(options.databaseUrl)
    url.pathname = `/${database}`
    const pool = openPostgres(url.href, 'faults', 4)
    const house = openClickHouse({ url: options.clickhouseUrl, database })
    const apiPort = await freePort()
    const env = {
      DATABASE_URL: url.href,
      CLICKHOUSE_URL: options.clickhouseUrl,
      CLICKHOUSE_DATABASE: database,
      REDIS_URL: options.redisUrl ?? '',
      API_PORT: String(apiPort),
      ...made.env,
      // Many of these processes run at once; none is asked for its metrics.
      PROCESSOR_METRICS_PORT: 'off',
      WORKER_METRICS_PORT: 'off',
      API_METRICS_PORT: 'off',
      POLL_INTERVAL_MS: '100',
      LOG_LEVEL: 'info',
      SQD_WARN: '*',
      ...options.env,
    }
    const dropDatabases = async () => {
      await dropClickHouse(house).catch(() => {})
      await house.close()
      await pool.end()
      await dropDatabase(options.databaseUrl, database)
    }
    return new System({
      ...made,
      pool,
      house,
      env,
      own: options.own ?? {},
      disk: options.disk,
      dropDatabases,
    })
  }

  /** Another chain in the same databases, with a processor of its own; the worker is this one's. Closed before it. */
  async beside(network: Network, options: Pick<SystemOptions, 'seed' | 'finality'>): Promise<System> {
    const made = await makeChain(network, options)
    const { pool, house, own, disk } = this
    return new System({
      ...made,
      pool,
      house,
      own,
      disk,
      env: { ...this.env, ...made.env },
      dropDatabases: async () => {},
    })
  }

  /** Starts parts; one that dies unasked is started again, as every supervisor does. */
  start(...parts: Part[]): void {
    for (const part of parts) this.launch(part, 0)
  }

  private launch(part: Part, crashes: number): void {
    const began = Date.now()
    const running = start(scriptOf(part, this.network), this.env, this.root)
    this.running.set(part, running)
    const orphaned = () => running.child.kill('SIGKILL')
    process.once('exit', orphaned)
    void running.ended.then(({ code, signal }) => {
      process.off('exit', orphaned)
      this.said.push(running.said())
      this.ends.push({ part, code, signal })
      if (this.running.get(part) === running) this.running.delete(part)
      if (!this.restarts || this.stopping.has(running)) return
      const next = Date.now() - began > 30_000 ? 0 : crashes + 1
      setTimeout(
        () => {
          if (this.restarts && !this.running.has(part)) this.launch(part, next)
        },
        Math.min(5_000, 100 * 2 ** next),
      )
    })
  }

  kill(part: Part): void {
    this.running.get(part)?.child.kill('SIGKILL')
  }

  /** SIGTERM; gives the exit code and how long it took. */
  async stop(part: Part): Promise<{ code: number | null; ms: number }> {
    const running = this.running.get(part)
    if (!running) return { code: 0, ms: 0 }
    this.stopping.add(running)
    const asked = Date.now()
    running.child.kill('SIGTERM')
    const timer = setTimeout(() => running.child.kill('SIGKILL'), 20_000)
    const { code } = await running.ended
    clearTimeout(timer)
    return { code, ms: Date.now() - asked }
  }

  /** Everything that parts have said, for a look at why. */
  words(): string {
    return [...this.said, ...[...this.running.values()].map(running => running.said())].join('\n')
  }

  /**
   * Until every block is stored (by hash) and every projection has caught up. How long that took is noted, and decides
   * nothing: what never settles fails. A contract's older logs are stored with the next block: the chain goes on for them.
   */
  async settle(never = NEVER): Promise<void> {
    const deadline = Date.now() + never
    const wanted = (await loadProjections()).filter(({ streams }) => streams === 'evm').length + 1
    let why = ''
    while (Date.now() < deadline) {
      why = await this.notSettled(wanted).catch((error: Error) => error.message)
      if (why === '') return
      if (why.endsWith(OLDER_LOGS)) {
        this.chain.mineEmpty(1)
        await pause(400)
      }
      await pause(100)
    }
    throw new CheckFailedError(`not settled after ${never / 1000} s: ${why}`)
  }

  private async notSettled(wanted: number): Promise<string> {
    const { rows } = await this.pool.query<{ head_hash: string; head_height: number }>(
      'SELECT head_hash, head_height FROM stream WHERE id = $1',
      [this.network.chainId],
    )
    const { head } = this.chain
    if (rows[0]?.head_hash !== head.hash)
      return `head ${rows[0]?.head_height} ${rows[0]?.head_hash}, wanted ${head.number} ${head.hash}`
    const status = (await readStatus(this.pool)).find(({ stream }) => stream === this.network.chainId)
    if (status?.projections.length !== wanted) return `${status?.projections.length} of ${wanted} projections`
    if (status.olderLogs > 0) return `${status.olderLogs} ${OLDER_LOGS}`
    const behind = status.projections.filter(projection => projection.behind > 0 || projection.applying)
    return behind.length === 0
      ? ''
      : `behind: ${behind.map(({ name, behind }) => `${name} ${behind}`).join(', ')}`
  }

  /** Height of the newest stored block, -1 before the first. */
  async height(): Promise<number> {
    const { rows } = await this.pool
      .query<{ head_height: number }>('SELECT head_height FROM stream WHERE id = $1', [this.network.chainId])
      .catch(() => ({ rows: [] }))
    return rows[0]?.head_height ?? -1
  }

  async until(what: string, seconds: number, holds: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = Date.now() + seconds * 1000
    while (Date.now() < deadline) {
      if (await holds()) return
      await pause(50)
    }
    throw new CheckFailedError(`${what}: not within ${seconds} s`)
  }

  async rows<T>(sql: string, params?: Record<string, unknown>): Promise<T[]> {
    return this.house.query<T>('faults', sql, params)
  }

  /** What the tables say of the chain's vaults, in the oracle's shape. */
  async found(): Promise<ReturnType<typeof expectedOf>> {
    const vaults = this.chain.vaults.map(({ address }) => address)
    const visible = '(chain_id, position) NOT IN (SELECT stream, position FROM retracted)'
    const keyed = async (sql: string) =>
      Object.fromEntries(
        (await this.rows<{ k: string; v: string }>(sql, { vaults })).map(({ k, v }) => [k, v]),
      )
    const balances = await keyed(
      `SELECT concat(vault, ' ', holder) AS k, toString(argMax(balance, position)) AS v FROM balance
       WHERE ${visible} AND vault IN {vaults:Array(String)} GROUP BY vault, holder HAVING v != '0'`,
    )
    const heads = await keyed(
      `SELECT concat(vault, ' ', holder) AS k, toString(holder.balance) AS v FROM holder FINAL WHERE holder.balance != 0 AND vault IN {vaults:Array(String)}`,
    )
    must(same(balances, heads), `the table of heads differs from history: ${diff(balances, heads)}`)
    const supply: Record<string, bigint> = {}
    for (const [key, shares] of Object.entries(balances)) {
      const [vault = ''] = key.split(' ')
      supply[vault] = (supply[vault] ?? 0n) + BigInt(shares)
    }
    const days = await this.rows<{ k: string; v: [string, string, number, number] }>(
      `SELECT concat(vault, ' ', toString(day)) AS k,
         argMax((toString(total_deposits), toString(total_redemptions), deposit_count, redemption_count), position) AS v
       FROM daily_flow WHERE ${visible} AND vault IN {vaults:Array(String)} GROUP BY vault, day`,
      { vaults },
    )
    const events = await this.rows<{ type: string; n: number }>(
      `SELECT type, toUInt32(uniqExact(position)) AS n FROM event
       WHERE stream = ${this.network.chainId} AND type IN ('Deposited', 'Redeemed', 'ShareTransferred')
         AND contract IN {vaults:Array(String)}
         AND (stream, position) NOT IN (SELECT stream, position FROM retracted) GROUP BY type`,
      { vaults },
    )
    const count = (type: string) => events.find(row => row.type === type)?.n ?? 0
    return {
      balances,
      supply: Object.fromEntries(
        Object.entries(supply)
          .filter(([, n]) => n !== 0n)
          .map(([k, n]) => [k, n.toString()]),
      ),
      flows: Object.fromEntries(days.map(({ k, v }) => [k, v])),
      events: {
        Deposited: count('Deposited'),
        Redeemed: count('Redeemed'),
        ShareTransferred: count('ShareTransferred'),
      },
    }
  }

  /** Compares every table with the oracle, every state sample with the chain's views, and the store with itself. */
  async compare(): Promise<void> {
    const expected = expectedOf(
      this.chain.blocks,
      this.chain.vaults.map(({ address }) => address),
    )
    const found = await this.found()
    for (const part of ['balances', 'supply', 'flows', 'events'] as const)
      must(same(expected[part], found[part]), `${part}: ${diff(expected[part], found[part])}`)
    await this.compareSamples()
    const { rows } = await this.pool.query<{ count: number; last: number; head: number }>(
      `SELECT count(*)::int AS count, coalesce(max(position), 0)::int AS last,
         (SELECT head FROM stream WHERE id = $1)::int AS head FROM stored_events($1, 0, 9007199254740991)`,
      [this.network.chainId],
    )
    must(
      rows[0]?.count === rows[0]?.last && rows[0]?.head === rows[0]?.last,
      `positions are not dense: ${JSON.stringify(rows[0])}`,
    )
    const { rows: twice } = await this.pool.query(
      `WITH gone AS (
         SELECT int8range((data->>'fromPosition')::bigint, (data->>'toPosition')::bigint, '[]') AS positions
         FROM event_log WHERE stream = $1 AND type = 'BlockRetracted')
       SELECT block_number, type, log_index FROM event_log e
       WHERE stream = $1 AND log_index IS NOT NULL AND NOT EXISTS (SELECT FROM gone WHERE e.position <@ gone.positions)
       GROUP BY block_number, block_hash, type, log_index HAVING count(*) > 1`,
      [this.network.chainId],
    )
    must(twice.length === 0, `stored twice: ${JSON.stringify(twice.slice(0, 3))}`)
  }

  private async compareSamples(): Promise<void> {
    const samples = await this.rows<{
      vault: string
      block: number
      assets: string | null
      supply: string | null
    }>(
      `SELECT contract AS vault, toUInt32(block_number) AS block,
         nullIf(JSONExtractString(data, 'totalAssets'), '') AS assets, nullIf(JSONExtractString(data, 'totalSupply'), '') AS supply
       FROM event FINAL WHERE stream = ${this.network.chainId} AND type = 'StateSampled'
         AND (stream, position) NOT IN (SELECT stream, position FROM retracted)`,
    )
    for (const { vault, block, assets, supply } of samples) {
      const state = this.chain.blocks[block]?.states.get(vault) ?? { totalAssets: 0n, totalSupply: 0n }
      must(
        assets === state.totalAssets.toString() && supply === state.totalSupply.toString(),
        `sample of ${vault} at ${block}: ${assets} / ${supply}, the chain says ${state.totalAssets} / ${state.totalSupply}`,
      )
    }
  }

  async close(): Promise<void> {
    this.restarts = false
    for (const { child, ended } of this.running.values()) {
      child.kill('SIGKILL')
      await ended
    }
    await this.node.stop()
    await this.dropDatabases()
  }
}

/** Key order aside. */
export function same(a: object, b: object): boolean {
  return diff(a, b) === ''
}

export function diff(a: object, b: object): string {
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  return [...new Set([...Object.keys(left), ...Object.keys(right)])]
    .filter(key => JSON.stringify(left[key]) !== JSON.stringify(right[key]))
    .slice(0, 4)
    .map(key => `${key}: expected ${JSON.stringify(left[key])}, found ${JSON.stringify(right[key])}`)
    .join('; ')
}
