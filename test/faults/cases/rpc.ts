import { setTimeout as pause } from 'node:timers/promises'
import { GeneratedChain } from '../chain/generated-chain.ts'
import type { NodeFaults } from '../chain/rpc-server.ts'
import { LIMITS, LOG_LIMITS, NO_STATE, RANGE_LIMITS } from '../chain/vendors.ts'
import { type Check, liveFor } from '../check.ts'
import { must, NETWORK } from '../system.ts'

/** Blocks go on coming while the node misbehaves. */
const during =
  (faults: NodeFaults, real: number): Check['inject'] =>
  async (system, { seconds }) => {
    system.node.faults = faults
    await liveFor(system, seconds(real))
    system.node.faults = {}
  }

const outages: [string, NodeFaults][] = [
  ['errors', { error: { code: -32603, message: 'internal error' } }],
  ['429', { status: 429 }],
  ['502', { status: 502 }],
  ['silence', { silent: true }],
]

const checks: Check[] = [
  ...outages.flatMap(([what, faults]) =>
    (['head', 'backfill'] as const).map(
      (phase): Check => ({
        name: `30 s of ${what}, ${phase === 'head' ? 'at the head' : 'in backfill'}`,
        group: 'rpc',
        phase,
        inject: during(faults, 30),
      }),
    ),
  ),
  {
    name: '2 minutes of one answer in eight broken',
    group: 'rpc',
    phase: 'head',
    inject: during({ broken: 1 / 8 }, 120),
  },
  ...RANGE_LIMITS.map(
    ([what, refusal]): Check => ({
      name: `at most 1,000 blocks per eth_getLogs: found out, and widened again, ${what}`,
      group: 'rpc',
      phase: 'start',
      options: { env: { [`START_BLOCK_${NETWORK.name.toUpperCase()}`]: '15000' } },
      prepare({ chain }) {
        chain.live(40)
        chain.mineEmpty(14_990, 12)
        chain.live(30)
      },
      async inject(system) {
        const { node } = system
        node.faults = { maxRange: 1000, refusal }
        system.start('processor', 'worker')
        await system.settle()
        const asked = node.ranges.filter(({ byAddress }) => byAddress)
        const refused = asked.filter(range => range.refused).length
        must(asked.length - refused >= 15, `only ${asked.length - refused} ranges were answered`)
        // What is no fixed meaning of JSON-RPC is believed when it is said three times.
        const most = refusal.code === -32_602 ? 1 / 3 : 1 / 2
        must(refused <= asked.length * most, `${refused} of ${asked.length} requests were refused`)
        // With the limit gone, a vault with as long a history is read in wider ranges again.
        node.faults = {}
        const before = node.ranges.length
        const { chain } = system
        const sleeper = chain.addVault({ born: 3 })
        chain.mine([chain.deposit(sleeper, chain.people[0] ?? '', 10n ** 18n)])
        await system.settle()
        const widest = Math.max(...node.ranges.slice(before).map(({ blocks }) => blocks))
        must(widest > 1000, `the widest range afterwards was ${widest} blocks`)
        return `${refused} of ${asked.length} refused, then up to ${widest} blocks`
      },
    }),
  ),
  ...LOG_LIMITS.map(
    ([vendor, refusal]): Check => ({
      name: `at most 10,000 logs per eth_getLogs, in the words of ${vendor}`,
      group: 'rpc',
      phase: 'start',
      // All of one vault in a day, more than is taken of a stranger with the blocks.
      options: { env: { LOGS_PER_DAY: '1000000' } },
      prepare({ chain }) {
        const [vault] = chain.vaults
        const [a = '', b = ''] = chain.people
        if (!vault) return
        for (let i = 0; i < 30; i++) {
          chain.mine(
            Array.from({ length: i % 3 === 0 ? 900 : 1 }, () => [
              ...chain.deposit(vault, a, 10n ** 18n),
              ...chain.deposit(vault, b, 10n ** 18n),
            ]),
          )
        }
      },
      async inject(system) {
        system.node.faults = { maxLogs: 10_000, refusal }
        system.start('processor', 'worker')
        await system.settle()
        const refused = system.node.ranges.filter(range => range.refused).length
        must(refused > 0, 'the limit was never met')
        return `${refused} of ${system.node.ranges.length} refused`
      },
      isQuick: vendor === 'Alchemy',
    }),
  ),
  ...LIMITS.map(
    ([what, refusal]): Check => ({
      name: `batches of 10, 50 calls a second and 64 kB at most, ${what}`,
      group: 'rpc',
      phase: 'start',
      isQuick: what === 'in invented words',
      async inject(system, { seconds }) {
        const { node } = system
        node.faults = { maxBatch: 10, maxRate: 50, maxBytes: 65_536, ...(refusal ? { refusal } : {}) }
        system.start('processor', 'worker')
        await system.settle()
        const caughtUp = node.requests.length
        await liveFor(system, seconds(10))
        await system.settle()
        const refused = node.requests.filter(request => request.refused).length
        must(refused > 0, 'the limits were never met')
        const later = node.requests.slice(caughtUp).filter(request => request.refused).length
        must(later <= (node.requests.length - caughtUp) / 5, `${later} requests were refused at the head`)
        return `${refused} of ${node.requests.length} refused, ${later} of them at the head`
      },
    }),
  ),
  ...[...NO_STATE, ['answered as of an empty chain, as older Erigon does', undefined] as const].map(
    ([what, refusal]): Check => ({
      name: `state of 128 blocks only, ${what}`,
      group: 'rpc',
      phase: 'start',
      isQuick: what === 'in invented words',
      prepare: ({ chain }) => void chain.live(400),
      async inject(system, { seconds }) {
        system.node.faults = { archive: 128, ...(refusal ? { refusal } : { forgets: true }) }
        system.start('processor', 'worker')
        await system.settle()
        await liveFor(system, seconds(10))
        await system.settle()
        const { rows } = await system.pool.query<{ first: number; samples: number }>(
          `SELECT coalesce(min(block_number), 0)::int AS first, count(*)::int AS samples FROM stored_events($1, 0, 9007199254740991)
           WHERE type = 'StateSampled'`,
          [NETWORK.chainId],
        )
        const [row = { first: 0, samples: 0 }] = rows
        must(row.samples > 0 && row.first >= 250, `${row.samples} samples, the first at block ${row.first}`)
        const { rows: letters } = await system.pool.query<{ n: number }>(
          `SELECT count(*)::int AS n FROM dead_letter WHERE stage = 'sample'`,
        )
        must((letters[0]?.n ?? 0) <= 5, `${letters[0]?.n} dead letters say the same`)
        must(/keeps no state of old blocks/.test(system.words()), 'it does not say so')
        return `${row.samples} samples from block ${row.first} on`
      },
    }),
  ),
  {
    name: 'no logs but of named contracts, from the start and at the head: the rest is read by receipts',
    group: 'rpc',
    phase: 'start',
    prepare: ({ chain }) => void chain.live(60),
    async inject(system, { seconds }) {
      system.node.faults = { needsFilter: 'contracts' }
      system.start('processor', 'worker')
      await system.settle()
      await liveFor(system, seconds(10))
      await system.settle()
      const asked = system.node.requests.flatMap(({ methods }) => methods)
      const receipts = asked.filter(method => method === 'eth_getBlockReceipts').length
      must(receipts > 0, 'no receipts were asked for')
      return `${receipts} of ${asked.length} calls for receipts`
    },
  },
  {
    name: 'the head goes back by ten blocks, and on',
    group: 'rpc',
    phase: 'head',
    async inject(system) {
      const { chain, node } = system
      for (let i = 0; i < 5; i++) {
        node.faults = { headAt: chain.head.number - 10 }
        await pause(500)
        node.faults = {}
        chain.live(2)
        await pause(300)
      }
      const { rows } = await system.pool.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM event_log WHERE stream = $1 AND type = 'BlockRetracted'`,
        [NETWORK.chainId],
      )
      must(rows[0]?.n === 0, `${rows[0]?.n} retractions although nothing was replaced`)
    },
  },
  {
    name: 'every range of logs is served twice over',
    group: 'rpc',
    phase: 'start',
    async inject(system, { seconds }) {
      system.node.faults = { twice: true }
      system.start('processor', 'worker')
      await system.settle()
      await liveFor(system, seconds(10))
      await system.settle()
    },
  },
  {
    name: 'half of the look-ups of blocks are null',
    group: 'rpc',
    phase: 'head',
    inject: during({ nullBlocks: 0.5 }, 30),
  },
  {
    name: 'half of the look-ups of blocks are null, in backfill',
    group: 'rpc',
    phase: 'backfill',
    inject: during({ nullBlocks: 0.5 }, 30),
  },
  {
    name: 'a hash vanishes: its number is served, it is not',
    group: 'rpc',
    phase: 'head',
    async inject(system, { seconds }) {
      const { chain, node } = system
      // Two blocks at once and a fork under them: the parent has to be looked up by its hash.
      chain.reorg(3, 4)
      node.faults = { vanished: chain.blocks[chain.head.number - 2]?.hash ?? '' }
      await liveFor(system, seconds(10))
    },
  },
  {
    name: 'a WebSocket subscription goes quiet, its connection stays open',
    group: 'rpc',
    phase: 'head',
    options: { isWebSocket: true },
    async inject(system) {
      system.node.muteSubscriptions()
      await liveFor(system, 3)
    },
  },
  ...[true, false].map(
    (isWebSocket): Check => ({
      name: `the node is away for six seconds, ${isWebSocket ? 'over WebSocket' : 'over HTTP'}`,
      isQuick: isWebSocket,
      group: 'rpc',
      phase: 'head',
      options: { isWebSocket },
      async inject(system) {
        const { node } = system
        await node.goAway()
        await liveFor(system, 6)
        await node.comeBack()
        await liveFor(system, 2)
      },
    }),
  ),
  {
    name: 'back-off stays below 20 times the normal rate',
    group: 'rpc',
    phase: 'head',
    async inject(system, { seconds }) {
      const { node } = system
      const rate = async (real: number) => {
        const before = node.requests.length
        await liveFor(system, seconds(real))
        return (node.requests.length - before) / seconds(real)
      }
      const normal = await rate(10)
      const worst: string[] = []
      for (const [what, faults] of outages) {
        node.faults = faults
        const failing = await rate(10)
        must(
          failing < normal * 20,
          `${failing.toFixed(1)} requests/s with ${what}, ${normal.toFixed(1)} normally`,
        )
        worst.push(`${what} ${failing.toFixed(1)}`)
        node.faults = {}
        await system.settle()
      }
      return `${normal.toFixed(1)} requests/s normally; ${worst.join(', ')}`
    },
  },
  ...(['head', 'backfill'] as const).map(
    (phase): Check => ({
      name: `the node switches to another chain, ${phase === 'head' ? 'at the head' : 'in backfill'}`,
      isQuick: true,
      group: 'rpc',
      phase,
      async inject(system, { seconds }) {
        const { node, chain } = system
        const other = new GeneratedChain({ seed: 99, chainId: 1 })
        other.vaults.push(...chain.vaults)
        other.live(3000)
        node.faults = { other }
        await system.until('the switch is said loudly', 120, () =>
          /"level":(50|60).*eth_chainId/.test(system.words()),
        )
        await pause(seconds(10) * 1000)
        must(!system.words().includes('DEEP_FORK'), 'it was taken for a fork, with the advice to rewind')
        const { rows } = await system.pool.query<{ hash: string }>(
          `SELECT DISTINCT '0x' || encode(block_hash, 'hex') AS hash FROM event_log WHERE stream = $1 AND type <> 'BlockRetracted'`,
          [NETWORK.chainId],
        )
        const strange = rows.filter(({ hash }) => !chain.everSeen.has(hash))
        must(strange.length === 0, `${strange.length} blocks of the other chain were stored`)
      },
    }),
  ),
  {
    name: 'the node is of another chain from the start: the processor refuses',
    group: 'rpc',
    phase: 'start',
    async inject(system) {
      system.node.faults = { chainId: 1 }
      system.start('processor')
      await system.until('refusal', 120, () => system.ends.some(({ code }) => code === 1))
      must(/WRONG_CHAIN/.test(system.words()), 'it does not say why')
      must((await system.height()) === -1, 'blocks were stored')
      system.node.faults = {}
      system.start('worker')
    },
  },
]

export default checks
