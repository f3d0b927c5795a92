import { setTimeout as pause } from 'node:timers/promises'
import { type Check, liveFor } from '../check.ts'
import { must, NETWORK, type System } from '../system.ts'

const atHead: Pick<Check, 'group' | 'phase'> = { group: 'reorgs', phase: 'head' }

async function retracted(system: System): Promise<number> {
  const { rows } = await system.pool.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM event_log WHERE stream = $1 AND type = 'BlockRetracted'`,
    [NETWORK.chainId],
  )
  return rows[0]?.n ?? 0
}

const sawRetractions: Check['expect'] = async system => {
  const n = await retracted(system)
  must(n > 0, 'nothing was retracted')
  return `${n} blocks retracted`
}

const checks: Check[] = [
  {
    ...atHead,
    name: 'a value changes: the same deposit, of another amount',
    async inject({ chain }) {
      const [vault] = chain.vaults
      if (!vault) return
      chain.rollback(1)
      chain.mine([chain.deposit(vault, chain.people[1] ?? '', 123n)])
    },
    expect: sawRetractions,
  },
  {
    ...atHead,
    name: 'an event is gone: its block is replaced by an empty one of the same height',
    isQuick: true,
    async inject({ chain }) {
      chain.rollback(1)
      chain.mineEmpty(1)
    },
    expect: sawRetractions,
  },
  {
    ...atHead,
    name: '6 blocks replaced by 3',
    isQuick: true,
    async inject({ chain }) {
      chain.reorg(6, 3)
    },
    expect: sawRetractions,
  },
  {
    ...atHead,
    name: '80 blocks deep, above finality',
    isQuick: true,
    options: { finality: 100 },
    prepare: ({ chain }) => chain.live(150),
    async inject({ chain }) {
      chain.reorg(80, 81)
    },
    expect: sawRetractions,
  },
  {
    ...atHead,
    name: 'while the processor is stopped',
    async inject(system) {
      await system.stop('processor')
      system.chain.reorg(6, 4)
      await pause(500)
      system.start('processor')
      await pause(3000)
      system.chain.live(3)
    },
    expect: sawRetractions,
  },
  {
    ...atHead,
    name: '3 within 12 s',
    async inject(system, { seconds }) {
      for (const depth of [3, 5, 2]) {
        await liveFor(system, seconds(4))
        system.chain.reorg(depth, depth + 1)
      }
    },
    expect: sawRetractions,
  },
  {
    name: 'during backfill: the head is replaced again and again while history is read',
    group: 'reorgs',
    phase: 'backfill',
    async inject(system, { seconds }) {
      const end = Date.now() + seconds(15) * 1000
      while (Date.now() < end) {
        system.chain.reorg(10, 11)
        await pause(300)
      }
    },
  },
  {
    ...atHead,
    name: 'there and back: the old branch wins in the end',
    async inject(system) {
      const { chain } = system
      const before = [...chain.blocks]
      chain.reorg(4, 5)
      await system.settle()
      chain.rollback(5)
      chain.readopt(before.slice(chain.blocks.length))
      chain.live(3)
    },
    expect: sawRetractions,
  },
]

export default checks
