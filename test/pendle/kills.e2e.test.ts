import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import { readStatus } from '../../db/status.ts'
import { supervise } from '../../jobs/supervisor.ts'
import { catchUpAll } from '../../jobs/work.ts'
import { startNode } from '../chain/node.ts'
import { seededRandom } from '../chain/random.ts'
import { familySums } from '../family-sums.ts'
import { createPipeline, differencesFromChain } from '../pipeline.ts'
import { Wanderers } from './wanderers.ts'
import { buildPendleWorld, contractsOf } from './world.ts'

const SEED = Number(process.env['TEST_SEED'] ?? 7)
const PATIENCE_MS = 180_000

test('processor and worker killed at random while users wander over the markets: the same read models as without', {
  timeout: 600_000,
}, async () => {
  const random = seededRandom(SEED)
  const node = await startNode({ hardfork: 'cancun' })
  const world = await buildPendleWorld(node)
  const killed = await createPipeline()
  const straight = await createPipeline()
  const folder = await mkdtemp(join(tmpdir(), 'vaultlog-pendle-'))
  const contracts = join(folder, 'contracts.json')
  await writeFile(contracts, JSON.stringify({ mainnet: contractsOf(world) }))
  const env = {
    DATABASE_URL: killed.postgres.url,
    CLICKHOUSE_URL: inject('clickhouseUrl'),
    CLICKHOUSE_DATABASE: killed.clickhouse.database,
    REDIS_URL: '',
    RPC_MAINNET: node.rpcUrl,
    CONTRACTS_FILE: contracts,
    POLL_INTERVAL_MS: '50',
    LOG_LEVEL: 'warn',
    SQD_WARN: '*',
  }
  const said: string[] = []
  const processes = supervise(
    [
      { name: 'processor', args: ['processors/main.ts', 'mainnet'], env },
      { name: 'worker', args: ['jobs/main.ts'], env },
    ],
    line => said.push(line),
  )
  try {
    const wanderers = new Wanderers(node, world, random, world.users)
    for (let step = 0; step < 40; step++) {
      const market = step % 3 === 0 ? world.long : world.short
      const { timestamp } = await node.head()
      const [, made] = await wanderers.next(market, timestamp >= market.expiry)
      for (const call of made) await node.send(call)
      await node.mine(timestamp + (random.pick([12, 600, 3_600, 86_400]) ?? 12))
      await pause(random.between(100, 700))
      if (step % 4 !== 3) continue
      const pid = random.pick(processes.processes)?.pid
      // None: it is being started again.
      if (pid) process.kill(pid, 'SIGKILL')
    }
    const { number } = await node.head()
    const projections = killed.projections.filter(({ face }) => face === 'fixed-term')
    const names = new Set(projections.map(({ name }) => name))
    const deadline = Date.now() + PATIENCE_MS
    const isThere = async () => {
      const mainnet = (await readStatus(killed.postgres.pool)).find(({ name }) => name === 'mainnet')
      const own = mainnet?.projections.filter(({ name }) => names.has(name)) ?? []
      return (
        (mainnet?.headBlock ?? 0) >= number &&
        own.length === names.size &&
        own.every(({ behind, applying }) => behind === 0 && !applying)
      )
    }
    while (!(await isThere())) {
      if (Date.now() > deadline) expect.fail(`not caught up: ${said.slice(-20).join('\n')}`)
      await pause(200)
    }
    await processes.stop()
    await straight.indexTo(number, { rpcUrl: node.rpcUrl, contracts: contractsOf(world) })
    await catchUpAll({ pool: straight.postgres.pool, clickhouse: straight.clickhouse.client, projections })
    expect(await familySums(killed, 'fixed-term')).toEqual(await familySums(straight, 'fixed-term'))
    expect(await differencesFromChain(killed.postgres.pool, node.rpcUrl, number, contractsOf(world))).toEqual(
      [],
    )
  } finally {
    await processes.stop()
    await killed.drop()
    await straight.drop()
    await node.stop()
    await rm(folder, { recursive: true, force: true })
  }
})
