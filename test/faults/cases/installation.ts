import { setTimeout as pause } from 'node:timers/promises'
import { type Check, liveFor } from '../check.ts'
import { vaultlog } from '../command.ts'
import { makeOlderBuild } from '../older-build.ts'
import { canMount } from '../small-disk.ts'
import { must, SECOND_NETWORK, type System } from '../system.ts'

const beyond: Pick<Check, 'group' | 'phase'> = { group: 'beyond', phase: 'head' }

const verified: Check['expect'] = async system => {
  const { code, stdout, stderr } = await vaultlog(system.env, 'verify')
  must(code === 0, `verify: ${stdout.slice(-500)}${stderr.slice(-500)}`)
  const { rows } = await system.pool.query('SELECT reason FROM dead_letter WHERE resolved_at IS NULL')
  must(rows.length === 0, `dead letters: ${JSON.stringify(rows)}`)
  return stdout.trim().split('\n').at(-1)
}

function diskFull(name: 'postgres' | 'clickhouse', title: string, phase: 'head' | 'backfill'): Check {
  return {
    group: 'beyond',
    phase,
    name: `${title}'s disk is full for 20 s, ${phase === 'head' ? 'at the head' : 'in backfill'}`,
    own: ['postgres', 'clickhouse'],
    onSmallDisk: name,
    async inject(system, { seconds }) {
      const { disk } = system
      if (!disk) return undefined
      const going = liveFor(system, seconds(22))
      const end = Date.now() + seconds(20) * 1000
      const before = refusals(system)
      while (Date.now() < end) {
        // Now and then with a little room: something is begun then, and fails in the middle.
        disk.fill(system.chain.random.chance(0.5) ? 0 : system.chain.random.below(1 << 19))
        await pause(100)
      }
      disk.free()
      await going
      const met = refusals(system) - before
      must(met > 0, 'nobody ever met the full disk')
      return `${met} times refused`
    },
    expect: verified,
  }
}

/** How often the processes said that there was no room. */
const refusals = (system: System): number =>
  system.words().match(/no space left on device|NOT_ENOUGH_SPACE/gi)?.length ?? 0

/** Blocks from the head to the oldest checkpoint of a chain's projections. */
async function blocksBehind({ pool, chain, network }: System): Promise<number> {
  const { rows } = await pool.query<{ oldest: number }>(
    'SELECT coalesce(min(block_number), -1)::int AS oldest FROM checkpoint WHERE stream = $1',
    [network.chainId],
  )
  return chain.head.number - (rows[0]?.oldest ?? -1)
}

interface Delays {
  p50: number
  worst: number
}

const said = ({ p50, worst }: Delays) => `${p50} and ${worst} ms`

/** A block every two seconds; milliseconds until all tables have it. */
async function delays(system: System, span: number): Promise<Delays> {
  const { chain } = system
  const waiting = new Map<number, number>()
  const found: number[] = []
  const forget = chain.onBlock(({ number }) => waiting.set(number, Date.now()))
  try {
    const going = liveFor(system, span, 2000)
    const last = Date.now() + span * 1000
    while (Date.now() < last || waiting.size > 0) {
      const reached = chain.head.number - (await blocksBehind(system))
      for (const [number, at] of waiting) {
        if (number > reached) continue
        found.push(Date.now() - at)
        waiting.delete(number)
      }
      must(Date.now() < last + 240_000, `${waiting.size} blocks never came to the tables`)
      await pause(50)
    }
    await going
  } finally {
    forget()
  }
  found.sort((a, b) => a - b)
  return { p50: found[found.length >> 1] ?? Number.NaN, worst: found.at(-1) ?? Number.NaN }
}

/** Positions that the projections of an older build have reached, when they have all reached the same. */
async function reachedBy({ pool, network }: System, projections: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ head: number; n: number }>(
    `SELECT s.head, count(c.*)::int AS n FROM stream s
     LEFT JOIN checkpoint c ON c.stream = s.id AND c.position = s.head AND c.applying_to IS NULL AND c.projection = ANY ($2)
     WHERE s.id = $1 GROUP BY s.head`,
    [network.chainId, projections],
  )
  return rows[0]?.n === projections.length ? rows[0].head : -1
}

const checks: Check[] = [
  ...(canMount
    ? (['head', 'backfill'] as const).flatMap(phase => [
        diskFull('postgres', 'Postgres', phase),
        diskFull('clickhouse', 'ClickHouse', phase),
      ])
    : []),
  {
    ...beyond,
    name: 'one chain far behind another: neither waits for the other, and both become complete',
    async inject(system, { seconds }) {
      const alone = await delays(system, seconds(60))
      const slow = await system.beside(SECOND_NETWORK, { seed: 7 })
      try {
        const { chain } = slow
        const deposit = () =>
          chain.vaults.flatMap(vault =>
            chain.deposit(vault, chain.random.pick(chain.people) ?? '', 10n ** 18n),
          )
        for (let i = 0; i < 400; i++) chain.mine(Array.from({ length: 25 }, deposit))
        slow.chain.mineEmpty(4000, 12)
        slow.chain.live(1000, 12)
        slow.node.faults = { delay: 1000 }
        slow.start('processor')
        await slow.until('the first blocks of the slow chain', 120, async () => (await slow.height()) >= 0)

        const beside = await delays(system, seconds(60))
        const behind = await blocksBehind(slow)
        must(behind > 100, `the slow chain was only ${behind} blocks behind: nothing was shown`)
        // All that it lacks comes at once: its batches are large, and the fast chain's have to go between them.
        slow.node.faults = {}
        const during = await delays(system, seconds(60))
        for (const { p50, worst } of [beside, during]) {
          must(p50 < alone.p50 * 3 + 1000, `${p50} ms at the median, ${alone.p50} alone`)
          must(worst < alone.worst * 3 + 5000, `${worst} ms at worst, ${alone.worst} alone`)
        }
        await slow.settle()
        await slow.compare()
        return `block to tables, median and worst: alone ${said(alone)}, beside a chain ${behind} blocks behind ${said(beside)}, while that one catches up ${said(during)}`
      } finally {
        await slow.close()
      }
    },
    expect: verified,
  },
  {
    ...beyond,
    phase: 'start',
    name: 'a newer schema comes with a restart, killed while it migrates: nothing is lost, new tables begin at the beginning',
    async inject(system) {
      const { chain } = system
      const older = await makeOlderBuild()
      try {
        system.root = older.folder
        system.start('processor', 'worker')
        await liveFor(system, 5, 200)
        chain.reorg(3, 4)
        chain.live(5)
        await system.until(
          'the older build',
          120,
          async () =>
            (await system.height()) === chain.head.number && (await reachedBy(system, older.projections)) > 0,
        )
        must(!(await hasTable(system, 'daily_flow')), 'the older build has the newer tables')
        const before = await sums(system, older.projections)
        await Promise.all([system.stop('processor'), system.stop('worker')])

        system.root = undefined
        const going = liveFor(system, 10, 200)
        const old = await migrations(system)
        system.start('processor', 'worker', 'api')
        // Three times in the midst of it: nobody gets to the end without being killed on the way.
        for (let done = old, kills = 0; kills < 3; kills++) {
          await system.until('a migration', 120, async () => (await migrations(system)) > done)
          for (const part of ['processor', 'worker', 'api'] as const) system.kill(part)
          done = await migrations(system)
        }
        const reached = await migrations(system)
        await going
        await system.settle()
        must(await hasTable(system, 'daily_flow'), 'the newer build has no newer tables')
        const after = await sums(system, older.projections, before.upTo)
        must(after.sum === before.sum, `the rows that were there: ${before.sum}, and now: ${after.sum}`)
        return `killed after ${reached} of ${await migrations(system)} migrations, ${old} of them old`
      } finally {
        await older.remove()
      }
    },
    expect: verified,
  },
  {
    ...beyond,
    name: 'events that the SQL of projections cannot digest: named dead letters, everything else goes on',
    async inject(system, { seconds }) {
      const { chain, network } = system
      const liar = `0x${'1bad'.repeat(10)}`
      await system.stop('processor')
      const block = chain.head.number
      const positions = [await appendPoison(system, liar, 9001), await appendPoison(system, liar, 9002)]
      system.start('processor')
      await liveFor(system, 5, 200)
      // Both projections of deposited amounts, both events, one attempt each.
      const letters = ['daily_flow', 'flow'].flatMap(projection =>
        positions.map((position, i) => `${projection} ${liar} ${block} ${9001 + i} ${position} 1`),
      )
      await system.settle()
      const asExpected = async () => {
        const found = await poisoned(system)
        must(
          found.join() === letters.join(),
          `dead letters: ${found.join(', ')}; expected: ${letters.join(', ')}`,
        )
      }
      await asExpected()
      chain.reorg(3, 4)
      await liveFor(system, seconds(30))
      await system.settle()
      await asExpected()
      const { stdout } = await vaultlog(system.env, 'deadletters', '--chain', network.name)
      must(stdout.includes(liar), `the operator is not told: ${stdout}`)
      const replay = await vaultlog(system.env, 'replay', '--projection', 'flow')
      must(replay.code === 0, `replay: ${replay.stderr.slice(-500)}`)
      const verify = await vaultlog(system.env, 'verify')
      must(verify.code === 0, `verify: ${verify.stdout.slice(-500)}${verify.stderr.slice(-500)}`)
      return `${letters.length} dead letters; ${verify.stdout.trim().split('\n').at(-1)}`
    },
  },
]

/** Appends an event of the newest block with an amount that is no whole number, past the checks of our own writer. */
async function appendPoison({ pool, network }: System, contract: string, logIndex: number): Promise<number> {
  const data = { owner: contract, sender: contract, assets: '12.5', shares: '5', ledger: 'self' }
  const { rows } = await pool.query<{ position: number }>(
    `WITH s AS (UPDATE stream SET head = head + 1 WHERE id = $1 RETURNING *)
     INSERT INTO event_log (stream, position, type, block_number, block_hash, block_time, tx_hash, log_index, contract, data)
     SELECT id, head, 'Deposited', head_height, decode(substr(head_hash, 3), 'hex'), head_time, decode(repeat('ab', 32), 'hex'), $2,
       decode(substr($3, 3), 'hex'), $4 FROM s RETURNING position`,
    [network.chainId, logIndex, contract, data],
  )
  return rows[0]?.position ?? 0
}

/** Dead letters of projections: whose, about what, and how often. */
async function poisoned({ pool, network }: System): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>(
    `SELECT concat_ws(' ', payload->>'poisoned', contract, block_number, log_index, payload->>'position', attempts) AS what
     FROM dead_letter WHERE stream = $1 AND stage = 'project' AND resolved_at IS NULL ORDER BY 1`,
    [network.chainId],
  )
  return rows.map(({ what }) => what)
}

const hasTable = async (system: System, name: string): Promise<boolean> =>
  (
    await system.rows(
      'SELECT 1 FROM system.tables WHERE database = currentDatabase() AND name = {name:String}',
      { name },
    )
  ).length > 0

async function migrations(system: System): Promise<number> {
  const [row] = await system
    .rows<{ n: number }>('SELECT toUInt32(uniqExact(name)) AS n FROM migration')
    .catch(() => [])
  return row?.n ?? 0
}

/** All rows up to a position, the newest unless told, of several tables in one figure. */
async function sums(
  system: System,
  tables: readonly string[],
  upTo?: number,
): Promise<{ sum: string; upTo: number }> {
  const end = upTo ?? (await reachedBy(system, tables))
  const parts: string[] = []
  for (const table of tables) {
    const [row] = await system.rows<{ sum: string }>(
      `SELECT concat(toString(count()), ' ', toString(sum(cityHash64(toString(tuple(*)))))) AS sum
       FROM {table:Identifier} FINAL WHERE chain_id = ${system.network.chainId} AND position <= {end:UInt64}`,
      { table, end },
    )
    parts.push(`${table} ${row?.sum}`)
  }
  return { sum: parts.join(', '), upTo: end }
}

export default checks
