import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { identifier } from '../../../db/clickhouse/migrate.ts'
import { loadProjections } from '../../../jobs/projection.ts'
import { recheckNext } from '../../../processors/checking/recheck.ts'
import { EverySeenState, openApi } from '../api.ts'
import { startFaultyNode } from '../chain/rpc-server.ts'
import { type Check, liveFor } from '../check.ts'
import { start, vaultlog } from '../command.ts'
import { diff, must, NETWORK, System, same } from '../system.ts'
import { startTcpProxy } from '../tcp-proxy.ts'

/** Rows and checksum of what a reader sees of every projection of chains; positions, which follow from timing, left out. */
async function checksums(system: System): Promise<Record<string, string>> {
  const sums: Record<string, string> = {}
  for (const { name, streams } of await loadProjections()) {
    if (streams !== 'evm') continue
    const [row] = await system.rows<{ sum: string }>(
      `SELECT concat(toString(count()), ' rows, ', toString(sum(cityHash64(toString(tuple(* EXCEPT position)))))) AS sum
       FROM ${identifier(name)} FINAL WHERE (chain_id, position) NOT IN (SELECT stream, position FROM retracted)`,
    )
    sums[name] = row?.sum ?? ''
  }
  return sums
}

/** Resident memory of a part, MiB. */
function memoryOf(system: System, part: 'processor' | 'worker'): number {
  const pid = system.running.get(part)?.child.pid
  const status = pid ? readFileSync(`/proc/${pid}/status`, 'utf8') : ''
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

const beyond: Pick<Check, 'group' | 'phase'> = { group: 'beyond', phase: 'head' }

const checks: Check[] = [
  {
    ...beyond,
    name: 'a node that leaves a log out is found by another: verify names it, rewind mends it',
    phase: 'start',
    isQuick: true,
    async inject(system) {
      const { chain, node, pool } = system
      const block = chain.blocks.findIndex(({ number, logs }) => number > 15 && logs.length > 1)
      node.faults = { hidesIn: block }
      system.start('processor', 'worker')
      await system.settle()
      const honest = await startFaultyNode(chain)
      try {
        const chainOf = ['verify', '--chain', NETWORK.name, '--rpc']
        const before = await vaultlog(system.env, ...chainOf, honest.url)
        must(before.code === 1, `verify ended with ${before.code}: ${before.stdout}${before.stderr}`)
        must(
          before.stdout.includes(`at block ${block}, log 0: on the chain and not in the store`),
          `it does not say which: ${before.stdout}${before.stderr}`,
        )
        const found = await recheckNext(pool, NETWORK, [honest.url], {})
        must(
          found?.equal === false && found.differences.some(d => d.includes(`block ${block}, log 0`)),
          `the re-check found ${JSON.stringify(found)}`,
        )
        const { rows } = await pool.query(
          `SELECT FROM dead_letter WHERE stage = 'verify' AND resolved_at IS NULL`,
        )
        must(rows.length === 1, `${rows.length} dead letters`)

        await system.stop('processor')
        node.faults = {}
        must((await vaultlog(system.env, 'rewind', NETWORK.name, '--to', '10')).code === 0, 'rewind failed')
        system.start('processor')
        await system.settle()
        const after = await vaultlog(system.env, ...chainOf, honest.url)
        must(after.code === 0, `verify ended with ${after.code}: ${after.stdout}${after.stderr}`)
        must((await recheckNext(pool, NETWORK, [honest.url], {}))?.equal === true, 're-check')
        return after.stdout.trim().split('\n').at(-1)
      } finally {
        await honest.stop()
      }
    },
  },
  {
    ...beyond,
    name: 'two runs over the same chain, one of them with faults: identical checksums',
    phase: 'start',
    async inject(system, { servers }) {
      const { chain } = system
      system.start('processor', 'worker')
      for (let i = 0; i < 5; i++) {
        await liveFor(system, 1, 100)
        system.kill(i % 2 ? 'worker' : 'processor')
        chain.reorg(3, 4)
      }
      await system.settle()
      const other = await System.open({ ...servers, seed: 1 })
      try {
        other.chain.vaults.splice(0, 2, ...chain.vaults)
        other.chain.readopt(chain.blocks.slice(1))
        other.chain.blocks[0] = chain.blocks[0] ?? other.chain.head
        other.start('processor', 'worker')
        await other.settle()
        const [a, b] = [await checksums(system), await checksums(other)]
        must(same(a, b), diff(a, b))
        return `${Object.keys(a).length} tables`
      } finally {
        await other.close()
      }
    },
  },
  {
    ...beyond,
    name: 'what the API says during reorgs is always a state that the chain had',
    isQuick: true,
    parts: ['processor', 'worker', 'api'],
    async inject(system, { seconds }) {
      const { chain } = system
      const [vault] = chain.vaults
      if (!vault) return
      const ask = await openApi(system)
      const ever = new EverySeenState(vault.address)
      // On a busy machine the API may be many blocks behind at first.
      for (let height = 0; height < chain.blocks.length; height++) ever.add(chain.blocks.slice(0, height + 1))
      const forget = chain.onBlock(() => ever.add(chain.blocks))
      await system.until('an answer', 120, async () => (await ask(vault.address)).status === 200)
      const end = Date.now() + seconds(60) * 1000
      let asked = 0
      let nextFork = Date.now() + 700
      let nextBlock = Date.now()
      try {
        while (Date.now() < end || asked < 20) {
          must(Date.now() < end + 240_000, `${asked} answers in all that time`)
          if (Date.now() > nextBlock) {
            chain.live(1)
            nextBlock += 250
          }
          if (Date.now() > nextFork) {
            chain.reorg(1 + chain.random.below(6), 1 + chain.random.below(6))
            nextFork += 900
          }
          const { status, block, balances } = await ask(vault.address)
          // Under load it may say that it is late.
          if (status === 503 || status === 408) continue
          must(status === 200, `status ${status}`)
          asked++
          const states = ever.at(block)
          must(
            states.some(state => same(state, balances)),
            `at block ${block} it says what none of its ${states.length} versions was: ${diff(states.at(-1) ?? {}, balances)}`,
          )
        }
      } finally {
        forget()
      }
      return `${asked} answers`
    },
  },
  {
    ...beyond,
    name: 'ClickHouse is complete after twenty restarts at random moments',
    own: ['postgres', 'clickhouse'],
    async inject(system, { seconds }) {
      const going = liveFor(system, seconds(90), 200)
      for (let i = 0; i < 20; i++) {
        await pause(system.chain.random.between(0.2, 0.9) * seconds(90) * 50)
        system.own.clickhouse?.kill()
      }
      await going
    },
    async expect(system) {
      const { code, stdout } = await vaultlog(system.env, 'verify')
      must(code === 0, `verify: ${stdout.slice(-500)}`)
      return stdout.trim().split('\n').at(-1)
    },
  },
  {
    ...beyond,
    name: 'a database 100 ms slower per statement: it keeps up, in bounded memory',
    phase: 'start',
    async inject(system, { seconds }) {
      const direct = system.env['DATABASE_URL'] ?? ''
      const proxy = await startTcpProxy(direct)
      try {
        system.chain.live(1440)
        system.env['DATABASE_URL'] = proxy.url
        proxy.delay = 100
        system.start('processor', 'worker')
        await liveFor(system, seconds(60), 1000)
        const memory = Math.max(memoryOf(system, 'processor'), memoryOf(system, 'worker'))
        must(memory < 512, `${memory.toFixed(0)} MiB`)
        // A commit is a dozen statements: 1,500 blocks take minutes by the delay alone.
        await system.settle(900_000)
        proxy.delay = 0
        return `${memory.toFixed(0)} MiB`
      } finally {
        await system.stop('processor')
        await system.stop('worker')
        await proxy.stop()
        system.env['DATABASE_URL'] = direct
        system.start('processor', 'worker')
      }
    },
  },
  {
    ...beyond,
    name: 'two processors of one chain: the second refuses, the first goes on',
    async inject(system) {
      const second = await start(['processors/main.ts', NETWORK.name], system.env).ended
      must(second.code !== 0, 'the second one runs')
      must(second.stderr.includes('SECOND_WRITER'), second.stderr.slice(-300))
      await liveFor(system, 2)
    },
  },
  {
    ...beyond,
    name: 'timestamps go backwards',
    phase: 'start',
    prepare({ chain }) {
      chain.live(30)
      for (let i = 0; i < 30; i++)
        chain.mine([chain.act()], { timestamp: chain.head.timestamp + (i % 3 === 2 ? -4000 : 1500) })
      chain.live(30)
    },
    async inject(system) {
      system.start('processor', 'worker')
    },
  },
  {
    ...beyond,
    name: 'a soak: memory stays flat',
    async inject(system, { soakSeconds: span }) {
      const sizes: number[] = []
      for (let i = 0; i < 12; i++) {
        await liveFor(system, span / 12, 1000)
        sizes.push(memoryOf(system, 'processor') + memoryOf(system, 'worker'))
      }
      // The first quarter is warming up.
      const early = Math.max(...sizes.slice(3, 6))
      const late = Math.min(...sizes.slice(9))
      must(late < early * 1.25 + 20, `from ${early.toFixed(0)} to ${late.toFixed(0)} MiB`)
      return `processor and worker: ${sizes.map(size => size.toFixed(0)).join(', ')} MiB in ${(span / 60).toFixed(0)} minutes`
    },
  },
]

export default checks
