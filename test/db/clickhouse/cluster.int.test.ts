import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type ClickHouse, type ClickHouseOptions, openClickHouse } from '../../../db/clickhouse/client.ts'
import { onCluster } from '../../../db/clickhouse/cluster.ts'
import { splitStatements } from '../../../db/clickhouse/migrate.ts'
import { type EmbeddedClickHouse, startClickHouse } from '../../../db/embedded/clickhouse.ts'
import { loadProjections, tablesOf } from '../../../jobs/projection.ts'
import { planRange } from '../../../jobs/ranges.ts'
import { applyRange } from '../../../jobs/runner.ts'
import { Engine } from '../../jobs/engine.ts'
import { RandomChain, store } from '../../jobs/streams.ts'
import { ownPlace } from '../embedded/places.ts'

const CLUSTER = 'vaults'
const STREAM = 1
const folder = new URL('../../../db/clickhouse/migrations/', import.meta.url)

/** The embedded engine has no Keeper, which replication and ON CLUSTER stand on: what is left of both without it. */
function withoutKeeper(sql: string): string {
  return sql
    .replaceAll(` ON CLUSTER ${CLUSTER}`, '')
    .replace(/Replicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?/, '$1(')
    .replace('replicated_deduplication_window', 'non_replicated_deduplication_window')
}

function openWithoutKeeper(options: ClickHouseOptions): ClickHouse {
  const house = openClickHouse({ ...options, cluster: CLUSTER })
  return {
    ...house,
    command: (name, sql, params) => house.command(name, withoutKeeper(sql), params),
    in: database => openWithoutKeeper({ ...options, database }),
  }
}

let place: Awaited<ReturnType<typeof ownPlace>>
let server: EmbeddedClickHouse

beforeAll(async () => {
  place = await ownPlace()
  const config = join(place.env.VAULTLOG_DIR, 'cluster.xml')
  await writeFile(
    config,
    `<clickhouse><tcp_port>9000</tcp_port><remote_servers><${CLUSTER}>
       <shard><replica><host>localhost</host><port>9000</port></replica></shard>
     </${CLUSTER}></remote_servers></clickhouse>`,
  )
  server = await startClickHouse({ ...place.env, EMBEDDED_CLICKHOUSE_CONFIG: config })
})
afterAll(async () => {
  await server?.stop()
  place?.remove()
})

describe('the schema on a cluster', () => {
  it('is SQL, with every table replicated and sharded by a column of its order key', async () => {
    const house = openClickHouse({ url: inject('clickhouseUrl'), database: 'default' })
    let tables = 0
    for (const file of await readdir(folder)) {
      for (const statement of splitStatements(await readFile(new URL(file, folder), 'utf8'))) {
        const [first = '', second = ''] = onCluster(statement, CLUSTER)
        for (const sql of [first, second].filter(Boolean)) {
          expect(sql).toContain(`ON CLUSTER ${CLUSTER}`)
          await house.query('test', 'SELECT formatQuery({sql:String})', { sql })
        }
        if (!statement.startsWith('CREATE TABLE')) continue
        tables++
        expect(first).toMatch(/ENGINE = ReplicatedReplacingMergeTree\(/)
        expect(first).not.toContain('non_replicated')
        const key = /cityHash64\((\w+)\)/.exec(second)?.[1] ?? 'none'
        expect(/ORDER BY \((.*)\)/.exec(first)?.[1]?.split(', ')).toContain(key)
      }
    }
    expect(tables).toBeGreaterThan(40)
    await house.close()
  })

  it('compresses in small blocks what is read in small groups of rows, as one node does', async () => {
    for (const engine of [await Engine.create(), await Engine.on(server.url, openWithoutKeeper)]) {
      const tables = await engine.rows<{ name: string; blocks: string }>(
        `SELECT name, extract(create_table_query, 'min_compress_block_size = (\\\\d+)') AS blocks FROM system.tables
         WHERE database = currentDatabase() AND create_table_query LIKE '%index_granularity = 1024%'`,
      )
      expect(tables.length).toBeGreaterThan(10)
      expect(tables.filter(({ blocks }) => blocks !== '8192')).toEqual([])
      await engine.drop()
    }
  })

  it('gives the rows that one node gives, through its Distributed tables', async () => {
    const projections = (await loadProjections()).filter(({ streams }) => streams === 'evm')
    const { log } = new RandomChain(5).grow(30)
    const last = log.length
    const sums: Record<string, string>[] = []
    let forks = 0
    for (const engine of [await Engine.create(), await Engine.on(server.url, openWithoutKeeper)]) {
      await store(engine, STREAM, log)
      for (let from = 0; from < last; ) {
        const end = Math.min(last, from + 200)
        const target = { position: last, block_number: 0, block_time: 0 }
        const range = await planRange(engine.client, STREAM, from, end, target, { leaveOutTo: last / 2 })
        forks += Number(range.hasForks)
        for (const projection of projections) await applyRange(engine.client, projection, STREAM, range)
        from = range.to
      }
      const sum: Record<string, string> = {}
      for (const table of projections.flatMap(tablesOf)) {
        const [row] = await engine.rows<{ sum: string }>(
          `SELECT concat(toString(count()), ' ', toString(sum(cityHash64(toString(tuple(*)))))) AS sum FROM ${table} FINAL`,
        )
        sum[table] = row?.sum ?? ''
      }
      const views = await engine.rows<{ name: string }>(
        `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'View' AND NOT position(create_table_query, '{')`,
      )
      expect(views.length).toBeGreaterThan(10)
      for (const { name } of views) {
        const [row] = await engine.rows<{ rows: number }>(`SELECT count() AS rows FROM ${name}`)
        sum[name] = String(row?.rows)
      }
      sums.push(sum)
      await engine.drop()
    }
    expect(sums[1]).toEqual(sums[0])
    expect(forks).toBeGreaterThan(1)
    expect(sums[0]?.balance).not.toMatch(/^0 /)
  })
})
