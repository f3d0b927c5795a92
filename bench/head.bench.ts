import { setTimeout as sleep } from 'node:timers/promises'
import { type Network, networks } from '../db/networks.ts'
import { runChain } from '../processors/chain-processor.ts'
import { loadProtocols } from '../processors/load-protocols.ts'
import { seededRandom } from '../test/chain/random.ts'
import { GeneratedChain } from '../test/faults/chain/generated-chain.ts'
import { startFaultyNode } from '../test/faults/chain/rpc-server.ts'
import { type Bench, percentiles, type Result, type Stage } from './bench.ts'

/** Blocks before it counts: the rhythm has to be found. */
const WARM = 24
const BLOCKS = 20
const SECONDS = 60
const WAVER = 0.05
const DAY = 86_400

interface Found {
  requestsPerBlock: number
  p50: number
  p99: number
}

/** Follows a chain whose blocks hold nothing of ours, and counts what its node is asked. */
async function follow(stage: Stage, blockTime: number, scheme: 'http' | 'ws'): Promise<Found> {
  const chain = new GeneratedChain({ seed: 5, chainId: 1 })
  chain.mineEmpty(20, 12)
  const node = await startFaultyNode(chain)
  const { pool } = await stage.postgres()
  const stop = new AbortController()
  const mined = new Map<number, number>()
  const delays: number[] = []
  let stored = chain.head.number
  const done = runChain({
    network: { ...networks.mainnet, blockTime } satisfies Network,
    protocols: await loadProtocols(),
    contracts: { 'chainlink-feed': [] },
    pool,
    rpcUrls: [node.url.replace('http', scheme)],
    finality: 5,
    signal: stop.signal,
    onCommit({ headBlock }) {
      for (; stored < headBlock; stored++) {
        const at = mined.get(stored + 1)
        if (at !== undefined) delays.push(performance.now() - at)
      }
    },
  })
  const random = seededRandom(3)
  const blocks = Math.max(BLOCKS, Math.ceil(SECONDS / blockTime))
  try {
    let due = performance.now()
    let before = 0
    for (let i = -WARM; i < blocks; i++) {
      if (i === 0) {
        before = node.requests.flatMap(({ methods }) => methods).length
        delays.length = 0
      }
      due += blockTime * 1000
      const wavering = due + blockTime * 1000 * WAVER * (2 * random.next() - 1)
      await sleep(Math.max(0, wavering - performance.now()))
      chain.mineEmpty(1, 1)
      mined.set(chain.head.number, performance.now())
    }
    await sleep(Math.max(2_000, blockTime * 1000))
    const asked = node.requests.flatMap(({ methods }) => methods).length - before
    return { requestsPerBlock: asked / blocks, ...percentiles(delays) }
  } finally {
    stop.abort()
    await done
    await node.stop()
  }
}

const thousands = (count: number) => Math.round(count / 1000).toLocaleString('en')

export const bench: Bench = {
  about:
    `The head of a chain without anything of ours, with blocks as often as those of the 22 networks, wavering by ${WAVER * 100} %: requests ` +
    `that its node gets (those of a batch counted one by one), ${SECONDS} s or ${BLOCKS} blocks long after ${WARM} blocks to find the rhythm, and from ` +
    'a block on the node to the block in the store. All at once, in one process with the node.',
  async run(stage) {
    const byTime = new Map<number, string[]>()
    for (const { name, blockTime } of Object.values(networks))
      byTime.set(blockTime, [...(byTime.get(blockTime) ?? []), name])
    const times = [...byTime].sort(([a], [b]) => b - a)
    const all = (scheme: 'http' | 'ws') => Promise.all(times.map(([time]) => follow(stage, time, scheme)))
    const [asked, told] = await Promise.all([all('http'), all('ws')])
    return times.map(([time, names], i): Result => {
      const words = (found: Found | undefined) => {
        if (!found) return ''
        const { requestsPerBlock, p50, p99 } = found
        const aDay = thousands((requestsPerBlock * DAY) / time)
        return `${requestsPerBlock.toFixed(2)} requests a block, ${aDay} thousand a day; p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`
      }
      return {
        what: `a block every ${time} s: ${names.join(', ')}`,
        ours: words(asked[i]),
        beside: `WebSocket: ${words(told[i])}`,
        budget: 'at most 3 a block over HTTP',
        holds: (asked[i]?.requestsPerBlock ?? Number.POSITIVE_INFINITY) <= 3,
      }
    })
  },
}
