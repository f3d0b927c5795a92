import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { type Check, liveFor } from '../check.ts'
import { hasRedis, type OwnName } from '../own-servers.ts'
import { must, NETWORK, type System } from '../system.ts'
import { startTcpProxy } from '../tcp-proxy.ts'

const stores: OwnName[] = ['postgres', 'clickhouse']

type Way = 'stopped for 10 s' | 'killed' | 'frozen for 20 s'
const ways: Way[] = ['stopped for 10 s', 'killed', 'frozen for 20 s']

const hurt =
  (name: OwnName, way: Way): Check['inject'] =>
  async (system, { seconds }) => {
    const server = system.own[name]
    if (!server) return
    const going = liveFor(system, seconds(way === 'frozen for 20 s' ? 22 : 12))
    await pause(1000)
    if (way === 'killed') server.kill()
    else if (way === 'frozen for 20 s') {
      server.freeze()
      await pause(seconds(20) * 1000)
      server.thaw()
    } else {
      await server.stop()
      await pause(seconds(10) * 1000)
      await server.start()
    }
    await going
    if (way === 'killed' && name === 'redis') await server.start()
  }

const title: Record<OwnName, string> = { postgres: 'Postgres', clickhouse: 'ClickHouse', redis: 'Redis' }

function servers(name: OwnName): Check[] {
  return ways.flatMap(way =>
    (['backfill', 'head'] as const).map(
      (phase): Check => ({
        name: `${title[name]} ${way}, ${phase === 'head' ? 'at the head' : 'in backfill'}`,
        group: 'crashes',
        phase,
        own: name === 'redis' ? [...stores, 'redis'] : stores,
        isQuick: way === 'killed' && phase === 'head' && name !== 'redis',
        inject: hurt(name, way),
      }),
    ),
  )
}

/** Nothing passes over the connections that there are, and nobody closes them, as where a NAT or a proxy forgets them. */
const forgotten = (name: 'postgres' | 'redis', setting: 'DATABASE_URL' | 'REDIS_URL'): Check => ({
  name: `connections to ${title[name]} are forgotten, and not closed`,
  group: 'crashes',
  phase: 'start',
  ...(name === 'redis' ? { own: [name] } : {}),
  async inject(system) {
    const direct = system.env[setting] ?? ''
    const proxy = await startTcpProxy(direct)
    system.env[setting] = proxy.url
    try {
      system.start('processor', 'worker')
      await system.settle()
      const going = liveFor(system, 4)
      await pause(1000)
      proxy.hush()
      await going
      const began = Date.now()
      await system.settle()
      return `caught up after ${((Date.now() - began) / 1000).toFixed(1)} s`
    } finally {
      system.env[setting] = direct
      for (const part of ['processor', 'worker'] as const) await system.stop(part)
      await proxy.stop()
      system.start('processor', 'worker')
    }
  },
})

/** What can be read of the store is whole: dense, and as far as the cursor says. */
async function storeIsWhole({ pool }: System): Promise<void> {
  const { rows } = await pool.query<{ n: number; last: number; head: number }>(
    `SELECT count(*)::int AS n, coalesce(max(position), 0)::int AS last,
       (SELECT head::int FROM stream WHERE id = $1) AS head FROM stored_events($1, 0, 9007199254740991)`,
    [NETWORK.chainId],
  )
  const [row] = rows
  must(
    row !== undefined && row.n === row.last && row.last === row.head,
    `half a batch: ${JSON.stringify(row)}`,
  )
}

/** Holds a table's lock until somebody of `application` waits for it with a statement like `statement`. */
async function whileWaiting(
  system: System,
  lock: string,
  statement: string,
  then: () => Promise<void>,
): Promise<void> {
  const client: pg.PoolClient = await system.pool.connect()
  try {
    for (let attempt = 0; attempt < 200; attempt++) {
      await client.query(`BEGIN; ${lock}`)
      for (let look = 0; look < 10; look++) {
        system.chain.live(1)
        await pause(50)
        const { rows } = await system.pool.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`,
          [statement],
        )
        if (rows.length === 0) continue
        await then()
        await client.query('ROLLBACK')
        return
      }
      await client.query('ROLLBACK')
      // Else the lock is taken again and again at the same statement.
      await pause(system.chain.random.between(0, 100))
    }
    must(false, `nobody ever waited with ${statement}`)
  } finally {
    client.release()
  }
}

async function endsWell(system: System, part: 'processor' | 'worker'): Promise<string> {
  const going = liveFor(system, 3, 50)
  await pause(1000)
  const { code, ms } = await system.stop(part)
  await going
  must(code === 0, `${part} ended with ${code}`)
  must(ms < 15_000, `${part} took ${ms} ms`)
  await storeIsWhole(system)
  const { rows } = await system.pool.query<{
    projection: string
    position: number
    applying_to: number | null
  }>('SELECT projection, position, applying_to FROM checkpoint WHERE stream = $1', [NETWORK.chainId])
  for (const { projection, position, applying_to } of rows) {
    if (part === 'worker') must(applying_to === null, `${projection} was left half applied`)
    const column = projection === 'event' ? 'stream' : 'chain_id'
    const [last] = await system.rows<{ last: string }>(
      `SELECT toString(max(position)) AS last FROM {table:Identifier} WHERE ${column} = ${NETWORK.chainId}`,
      { table: projection },
    )
    if (part === 'worker')
      must(
        Number(last?.last) <= position,
        `${projection} has rows up to ${last?.last}, its checkpoint is ${position}`,
      )
  }
  system.start(part)
  return `ended after ${ms} ms`
}

function kills(part: 'processor' | 'worker'): Check[] {
  const killed: Check['inject'] = async system => {
    system.kill(part)
    await storeIsWhole(system)
    await liveFor(system, 2)
    await storeIsWhole(system)
  }
  return [
    {
      name: `SIGKILL of the ${part} while it starts`,
      group: 'crashes',
      phase: 'start',
      async inject(system) {
        system.start('processor', 'worker')
        for (let i = 0; i < 3; i++) {
          await pause(400 + 500 * i)
          system.kill(part)
        }
      },
    },
    { name: `SIGKILL of the ${part} in backfill`, group: 'crashes', phase: 'backfill', inject: killed },
    {
      name: `SIGKILL of the ${part} at the head`,
      group: 'crashes',
      phase: 'head',
      inject: killed,
    },
    {
      name: `SIGKILL of the ${part} in the middle of a commit`,
      isQuick: true,
      group: 'crashes',
      phase: 'head',
      inject: system =>
        part === 'processor'
          ? // Its events are written and not committed when it comes to the blocks it remembers.
            whileWaiting(
              system,
              'LOCK TABLE hot_block IN SHARE ROW EXCLUSIVE MODE',
              '%hot_block%',
              async () => {
                system.kill('processor')
                await pause(300)
                await storeIsWhole(system)
              },
            )
          : // Its rows are in ClickHouse and its checkpoint is not moved yet.
            whileWaiting(
              system,
              'LOCK TABLE checkpoint IN SHARE ROW EXCLUSIVE MODE',
              '%UPDATE checkpoint SET position%',
              async () => {
                system.kill('worker')
                await pause(300)
              },
            ),
    },
    {
      name: `SIGTERM of the ${part} in full traffic: ends within 15 s, checkpoint equal to the data`,
      group: 'crashes',
      phase: 'head',
      inject: system => endsWell(system, part),
    },
  ]
}

const checks: Check[] = [
  ...servers('postgres'),
  ...kills('processor'),
  ...kills('worker'),
  ...servers('clickhouse'),
  ...(hasRedis ? servers('redis') : []),
  forgotten('postgres', 'DATABASE_URL'),
  ...(hasRedis ? [forgotten('redis', 'REDIS_URL')] : []),
  {
    name: 'SIGTERM of the processor while its node is down: ends within 15 s',
    group: 'crashes',
    phase: 'head',
    async inject(system, { seconds }) {
      system.node.faults = { error: { code: -32603, message: 'internal error' } }
      await pause(seconds(40) * 1000)
      const { code, ms } = await system.stop('processor')
      must(code === 0 && ms < 15_000, `ended with ${code} after ${ms} ms`)
      system.node.faults = {}
      system.start('processor')
      return `ended after ${ms} ms`
    },
  },
]

export default checks
