import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { type ClickHouse, openClickHouse } from '../db/clickhouse/client.ts'
import { dropClickHouse, migrateClickHouse } from '../db/clickhouse/migrate.ts'
import { migratePostgres, openPostgres } from '../db/postgres.ts'
import { dropDatabase } from '../test/drop-database.ts'

/** One line of RESULTS.md. A ratio says how many times faster ours is than what stands beside it, in one run. */
export interface Result {
  what: string
  ours: string
  /** What it is compared with, and the figure of that. */
  beside?: string
  ratio?: number
  /** The budget of the design, in words, and whether it held. */
  budget?: string
  holds?: boolean
}

export interface Bench {
  /** What is measured, and how, in a sentence or two. */
  about: string
  run(stage: Stage): Promise<Result[]>
}

/** Databases of a bench's own on the run's servers. */
export interface Stage {
  readonly clickhouseUrl: string
  postgres(): Promise<{ url: string; pool: pg.Pool }>
  clickhouse(): Promise<ClickHouse>
  /** Called in reverse order when the bench has ended, however it ended. */
  afterwards(undo: () => Promise<unknown>): void
  /** A line of progress. */
  say(line: string): void
}

export async function withStage<T>(
  servers: { databaseUrl: string; clickhouseUrl: string },
  say: (line: string) => void,
  work: (stage: Stage) => Promise<T>,
): Promise<T> {
  const undone: (() => Promise<unknown>)[] = []
  const afterwards: Stage['afterwards'] = undo => undone.unshift(undo)
  const asAdmin = async (sql: string) => {
    const admin = new pg.Client({ connectionString: servers.databaseUrl })
    await admin.connect()
    await admin.query(sql).finally(() => admin.end())
  }
  try {
    return await work({
      clickhouseUrl: servers.clickhouseUrl,
      say,
      afterwards,
      async postgres() {
        const name = `vaultlog_bench_${randomBytes(4).toString('hex')}`
        await asAdmin(`CREATE DATABASE ${name}`)
        afterwards(() => dropDatabase(servers.databaseUrl, name))
        const url = new URL(servers.databaseUrl)
        url.pathname = `/${name}`
        const pool = openPostgres(url.href, 'bench', 8)
        afterwards(() => pool.end())
        await migratePostgres(pool)
        return { url: url.href, pool }
      },
      async clickhouse() {
        const database = `vaultlog_bench_${randomBytes(4).toString('hex')}`
        const house = openClickHouse({ url: servers.clickhouseUrl, database })
        afterwards(async () => {
          await dropClickHouse(house)
          await house.close()
        })
        await migrateClickHouse(house)
        return house
      },
    })
  } finally {
    for (const undo of undone) await undo().catch((error: Error) => say(`clean-up: ${error.message}`))
  }
}

export const perSecond = (count: number, ms: number): string =>
  `${Math.round((count / ms) * 1000).toLocaleString('en')}/s`

/** Milliseconds at p50 and p99 of a sample. */
export function percentiles(sample: readonly number[]): { p50: number; p99: number } {
  const sorted = [...sample].sort((a, b) => a - b)
  const at = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

export async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const started = performance.now()
  const result = await work()
  return { ms: performance.now() - started, result }
}

/** What a process has held at most, MiB; undefined where the system does not tell. */
export async function peakMemory(pid: number | undefined): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const found = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]
  return found === undefined ? undefined : Number(found) / 1024
}

/** Milliseconds that pass, and those of this process's CPU. */
export async function measured(work: () => Promise<void>): Promise<{ ms: number; cpu: number }> {
  const before = process.cpuUsage()
  const { ms } = await timed(work)
  const { user, system } = process.cpuUsage(before)
  return { ms, cpu: (user + system) / 1_000 }
}
