import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClickHouse, openClickHouse } from '../../../db/clickhouse/client.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'
import { indexedBalances, untilAtHead } from '../../faults/checks.ts'
import { start, vaultlog } from '../../faults/command.ts'
import { type SmallChain, startSmallChain } from '../../faults/small-chain.ts'
import { type ServerCluster, startServerCluster } from './server-cluster.ts'

/**
 * Shards, replicas and Keepers for real, where `CLICKHOUSE_SERVER` names a ClickHouse binary (from 25.8 on); no package on npm has one.
 * Everywhere else it is skipped, and the schema on a cluster is tested without Keeper in cluster.int.
 */
const BINARY = process.env['CLICKHOUSE_SERVER'] ?? ''
const DATABASE = 'vaultlog'
const FINALITY = 20

describe.skipIf(BINARY === '')(
  'two shards with two replicas each (skipped unless CLICKHOUSE_SERVER is set)',
  () => {
    let cluster: ServerCluster
    let house: ClickHouse
    let chain: SmallChain
    let postgres: TestPostgres
    let env: Record<string, string>

    beforeAll(async () => {
      cluster = await startServerCluster(BINARY)
      chain = await startSmallChain(31)
      postgres = await createPostgres()
      house = openClickHouse({ url: cluster.url, database: DATABASE, cluster: cluster.name })
      env = {
        DATABASE_URL: postgres.url,
        CLICKHOUSE_URL: cluster.url,
        CLICKHOUSE_CLUSTER: cluster.name,
        CLICKHOUSE_DATABASE: DATABASE,
        REDIS_URL: '',
        RPC_MAINNET: chain.node.rpcUrl,
        FINALITY_MAINNET: String(FINALITY),
        POLL_INTERVAL_MS: '50',
      }
    })
    afterAll(async () => {
      await house?.close()
      await chain?.node.stop()
      await postgres?.drop()
      await cluster?.stop()
    })

    const rows = <T>(sql: string) => house.query<T>('test', sql)
    const expectAsOnChain = async () => {
      const held = await chain.balances()
      await expect
        .poll(async () => (await indexedBalances({ rows })).heads, {
          timeout: 120_000,
          interval: 500,
        })
        .toEqual(held)
      expect((await indexedBalances({ rows })).history).toEqual(held)
    }
    const expectVerified = async () => {
      const said = await vaultlog(env, 'verify')
      expect(said.stdout + said.stderr).toMatch(/All \d+ equal/)
      expect(said.code).toBe(0)
    }

    it('rows are on both shards; a killed replica takes nothing away, and what was written without it is there when it is back', async () => {
      const processes = [start(['processors/main.ts', 'mainnet'], env), start(['jobs/main.ts'], env)]
      try {
        await chain.live(20)
        await untilAtHead(postgres.pool, chain)
        await expectAsOnChain()
        const shards = await rows<{ shard: number }>('SELECT DISTINCT _shard_num AS shard FROM event')
        expect(shards.length).toBe(2)

        // The one that is asked first.
        await cluster.kill('clickhouse-02-a')
        await expectAsOnChain()
        await chain.live(10)
        await untilAtHead(postgres.pool, chain)
        await cluster.start('clickhouse-02-a')
        await expectAsOnChain()
      } finally {
        for (const { child, ended } of processes) {
          child.kill('SIGTERM')
          await ended
        }
      }
      await expectVerified()
      expect((await vaultlog(env, 'replay')).code).toBe(0)
      await expectAsOnChain()
      await expectVerified()
    })
  },
)
