import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { openClickHouse } from '../../db/clickhouse/client.ts'
import { dropClickHouse, migrateClickHouse } from '../../db/clickhouse/migrate.ts'
import { createKey } from '../../db/keys/keys.ts'
import { migratePostgres, openPostgres } from '../../db/postgres.ts'
import { API_COMMAND } from '../../db/process/api-command.ts'
import type { Fact } from '../../db/registry/fact.ts'
import { recordFacts } from '../../db/registry/registry.ts'
import { readStatus } from '../../db/status.ts'
import { loadProjections } from '../../jobs/projection.ts'
import { freePort } from '../chain/anvil-process.ts'
import { dropDatabase } from '../drop-database.ts'
import { type Running, start } from '../faults/command.ts'

export interface Answer {
  status: number
  body: string
  ms: number
  /** Block that it is of; -1 where it says none. */
  served: number
}

/** The processes of an installation over one chain, on databases of its own. */
export interface Installation {
  pool: pg.Pool
  /** Until the store has this block and every projection all of it; throws when nothing has moved for long. */
  settled(block: { number: number; hash: string }): Promise<void>
  height(): Promise<number>
  ask(path: string): Promise<Answer>
  /** Largest resident size that each process has had, MB. */
  memory(): Record<string, number>
  words(): string
  close(): Promise<void>
}

export class StoppedError extends Error {}

/** Seconds without any move after which nothing is expected any more. */
const PATIENCE = 150

export async function install(
  servers: { databaseUrl: string; clickhouseUrl: string },
  chain: { rpcUrl: string; contracts: Record<string, string[]>; facts: Fact[]; at: number },
): Promise<Installation> {
  const database = `vaultlog_hostile_${randomBytes(5).toString('hex')}`
  const admin = async (sql: string) => {
    const client = new pg.Client({ connectionString: servers.databaseUrl })
    await client.connect()
    await client.query(sql)
    await client.end()
  }
  await admin(`CREATE DATABASE ${database}`)
  const url = new URL(servers.databaseUrl)
  url.pathname = `/${database}`
  const pool = openPostgres(url.href, 'hostile', 4)
  await migratePostgres(pool)
  const house = openClickHouse({ url: servers.clickhouseUrl, database })
  await migrateClickHouse(house)
  const folder = await mkdtemp(join(tmpdir(), 'vaultlog-hostile-'))
  const contractsFile = join(folder, 'contracts.json')
  await writeFile(contractsFile, JSON.stringify({ mainnet: chain.contracts }))
  await recordFacts(pool, chain.facts, chain.at)
  const { key } = await createKey(pool, { name: 'hostile', plan: 'unlimited' })
  const apiPort = await freePort()
  const env = {
    DATABASE_URL: url.href,
    CLICKHOUSE_URL: servers.clickhouseUrl,
    CLICKHOUSE_DATABASE: database,
    REDIS_URL: '',
    RPC_MAINNET: chain.rpcUrl,
    CONTRACTS_FILE: contractsFile,
    API_PORT: String(apiPort),
    PROCESSOR_METRICS_PORT: 'off',
    WORKER_METRICS_PORT: 'off',
    API_METRICS_PORT: 'off',
    POLL_INTERVAL_MS: '100',
    // Budgets are by the chain's time, of which twenty days pass here in half a minute; and its honest vaults are a dozen,
    // where a chain has hundreds.
    SAMPLES_PER_HOUR: '16',
    INSPECTIONS_PER_HOUR: '60',
    LOGS_PER_DAY: '500',
  }
  const running = new Map<string, Running>([
    ['processor', start(['processors/main.ts', 'mainnet'], env)],
    ['worker', start(['jobs/main.ts'], env)],
    ['api', start(API_COMMAND, env)],
  ])
  const orphaned = () => {
    for (const { child } of running.values()) child.kill('SIGKILL')
  }
  process.once('exit', orphaned)
  const wanted = (await loadProjections()).filter(({ streams }) => streams === 'evm').length + 1

  const height = async () => {
    const { rows } = await pool.query<{ head_height: number }>(
      'SELECT head_height::int FROM stream WHERE id = 1',
    )
    return rows[0]?.head_height ?? -1
  }
  const words = () => [...running].map(([name, each]) => `## ${name}\n${each.said()}`).join('\n')

  return {
    pool,
    height,
    words,
    async settled({ number, hash }) {
      let last = ''
      let since = Date.now()
      while (true) {
        for (const [name, { child }] of running)
          if (child.exitCode !== null || child.signalCode !== null) throw new StoppedError(`${name} ended`)
        const { rows } = await pool.query<{ head_hash: string; head_height: number }>(
          'SELECT head_hash, head_height::int FROM stream WHERE id = 1',
        )
        const status = (await readStatus(pool)).find(({ stream }) => stream === 1)
        const behind = status?.projections.filter(each => each.behind > 0 || each.applying) ?? []
        if (rows[0]?.head_hash === hash && status?.projections.length === wanted && behind.length === 0)
          return
        const now = `block ${rows[0]?.head_height ?? -1} of ${number}, behind: ${behind.map(({ name, behind: by }) => `${name} ${by}`).join(', ')}`
        if (now !== last) {
          last = now
          since = Date.now()
        }
        if (Date.now() - since > PATIENCE * 1000)
          throw new StoppedError(`nothing moved for ${PATIENCE} s at ${now}`)
        await pause(100)
      }
    },
    async ask(path) {
      const began = Date.now()
      const response = await fetch(`http://127.0.0.1:${apiPort}${path}`, { headers: { 'x-api-key': key } })
      const body = await response.text()
      const served = Number(/\d+$/.exec(response.headers.get('x-as-of-block') ?? '')?.[0] ?? -1)
      return { status: response.status, body, ms: Date.now() - began, served }
    },
    memory: () =>
      Object.fromEntries(
        [...running].map(([name, { child }]) => {
          const kb = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
          return [name, Math.round(Number(kb) / 1024)]
        }),
      ),
    async close() {
      orphaned()
      await Promise.all([...running.values()].map(({ ended }) => ended))
      process.off('exit', orphaned)
      await dropClickHouse(house).catch(() => {})
      await house.close()
      await pool.end()
      await dropDatabase(servers.databaseUrl, database)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
